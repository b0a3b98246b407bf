"""From what a publisher offers to the content whose checksum is recorded.

Every function keeps the cells as they are: it leaves out columns or mends a header, and writes plain CSV
with "\\n" line ends. Content it does not recognise comes back unchanged, and fails its checksum later.
Latin-1 is used both ways because it gives every byte back as it was, whatever the true encoding.
"""

from __future__ import annotations

import csv
import io

PERSONAL_COLUMNS = frozenset(
    ["id", "name", "first", "last", "dob", "c_case_number", "r_case_number", "vr_case_number"]
)
_CLIENT_CODES = ["", *[f"X{number}" for number in range(1, 24)], "Y"]
_CLIENT_NAMES = [
    *["ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"],
    *["PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"],
    *[f"BILL_AMT{month}" for month in range(1, 7)],
    *[f"PAY_AMT{month}" for month in range(1, 7)],
    "default payment next month",
]
_UNNORMALISED_HEADER = (
    "communityname,state,countyCode,communityCode,fold,population,householdsize,racepctblack,racePctWhite,"
    "racePctAsian,racePctHisp,agePct12t21,agePct12t29,agePct16t24,agePct65up,numbUrban,pctUrban,medIncome,"
    "pctWWage,pctWFarmSelf,pctWInvInc,pctWSocSec,pctWPubAsst,pctWRetire,medFamInc,perCapInc,whitePerCap,"
    "blackPerCap,indianPerCap,AsianPerCap,OtherPerCap,HispPerCap,NumUnderPov,PctPopUnderPov,PctLess9thGrade,"
    "PctNotHSGrad,PctBSorMore,PctUnemployed,PctEmploy,PctEmplManu,PctEmplProfServ,PctOccupManu,"
    "PctOccupMgmtProf,MalePctDivorce,MalePctNevMarr,FemalePctDiv,TotalPctDiv,PersPerFam,PctFam2Par,"
    "PctKids2Par,PctYoungKids2Par,PctTeen2Par,PctWorkMomYoungKids,PctWorkMom,NumKidsBornNeverMar,"
    "PctKidsBornNeverMar,NumImmig,PctImmigRecent,PctImmigRec5,PctImmigRec8,PctImmigRec10,PctRecentImmig,"
    "PctRecImmig5,PctRecImmig8,PctRecImmig10,PctSpeakEnglOnly,PctNotSpeakEnglWell,PctLargHouseFam,"
    "PctLargHouseOccup,PersPerOccupHous,PersPerOwnOccHous,PersPerRentOccHous,PctPersOwnOccup,"
    "PctPersDenseHous,PctHousLess3BR,MedNumB,HousVacant,PctHousOccup,PctHousOwnOcc,PctVacantBoarded,"
    "PctVacMore6Mos,MedYrHousBuilt,PctHousNoPhone,PctWOFullPlumb,OwnOccLowQuart,OwnOccMedVal,OwnOccHiQuart,"
    "OwnOccQrange,RentLowQ,RentMedian,RentHighQ,RentQrange,MedRent,MedRentPctHousInc,MedOwnCostPctInc,"
    "MedOwnCostPctIncNoMtg,NumInShelters,NumStreet,PctForeignBorn,PctBornSameState,PctSameHouse85,"
    "PctSameCity85,PctSameState85,LemasSwornFT,LemasSwFTPerPop,LemasSwFTFieldOps,LemasSwFTFieldPerPop,"
    "LemasTotalReq,LemasTotReqPerPop,PolicReqPerOffic,PolicPerPop,RacialMatchCommPol,PctPolicWhite,"
    "PctPolicBlack,PctPolicHisp,PctPolicAsian,PctPolicMinor,OfficAssgnDrugUnits,NumKindsDrugsSeiz,"
    "PolicAveOTWorked,LandArea,PopDens,PctUsePubTrans,PolicCars,PolicOperBudg,LemasPctPolicOnPatr,"
    "LemasGangUnitDeploy,LemasPctOfficDrugUn,PolicBudgPerPop,murders,murdPerPop,rapes,rapesPerPop,robberies,"
    "robbbPerPop,assaults,assaultPerPop,burglaries,burglPerPop,larcenies,larcPerPop,autoTheft,"
    "autoTheftPerPop,arsons,arsonsPerPop,ViolentCrimesPerPop,nonViolPerPop"
)


def without_people(original: bytes) -> bytes:
    """ProPublica's table without its eight personal columns: names, birth dates, identifiers, case numbers."""
    rows = _rows(original)
    header = rows[0] if rows else []
    kept = [place for place, name in enumerate(header) if name not in PERSONAL_COLUMNS]
    if len(kept) == len(header):
        return original
    return _csv([[row[place] for place in kept if place < len(row)] for row in rows])


def client_names(original: bytes) -> bytes:
    """UCI's CSV of the credit card clients (ID, X1 … X23, Y) under the two header rows of its spreadsheet."""
    rows = _rows(original)
    if not rows or rows[0] != ["ID", *_CLIENT_CODES[1:]]:
        return original
    return _csv([_CLIENT_CODES, _CLIENT_NAMES, *rows[1:]])


def communities_header(original: bytes) -> bytes:
    """UCI's unnormalised communities with their header, which some copies of the file lack."""
    rows = _rows(original)
    header = _UNNORMALISED_HEADER.split(",")
    if not rows or len(rows[0]) != len(header):
        return original
    return _csv(rows if rows[0] == header else [header, *rows])


def _rows(content: bytes) -> list[list[str]]:
    return [row for row in csv.reader(io.StringIO(content.decode("latin-1"), newline="")) if row]


def _csv(rows: list[list[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("latin-1")

"""The registry: one entry a data set, the only place that knows checksums, licences and definitions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from evenleaf.datasets.checks import one_of
from evenleaf.datasets.entry import DataFile, Entry
from evenleaf.datasets.originals import client_names, communities_header, without_people

_UCI = "https://archive.ics.uci.edu"
_PROPUBLICA = "https://raw.githubusercontent.com/propublica/compas-analysis/master"
# A second place for the one file that UCI publishes without its header, pinned to a commit.
_COMMUNITIES_COPY = (
    "https://raw.githubusercontent.com/shap/shap/357c8d2264774787e765d671d40a2f5cdfcd85ad/data/"
    "CommViolPredUnnormalizedData.txt"
)

_ADULT = Entry(
    name="adult",
    title="Adult (Census Income)",
    source="UCI Machine Learning Repository; United States census of 1994; embedded in this package",
    citation="Becker, B. and Kohavi, R. (1996). Adult. https://doi.org/10.24432/C5XW20",
    licence="CC BY 4.0",
    page=f"{_UCI}/dataset/2/adult",
    files=(
        DataFile("adult/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d"),
        DataFile("adult/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05"),
    ),
    target="income",
    task="classification",
    positive=">50K",
    protected=("race", "sex"),
    categorical=(
        *("workclass", "education", "marital-status", "occupation"),
        *("relationship", "race", "sex", "native-country"),
    ),
    dropped=(
        ("education", "education-num is the same in order (option education)"),
        ("fnlwgt", "a survey weight, not a fact about the person (option survey_weights)"),
    ),
    groups="race as recorded (five groups), or White and not White",
    options=(
        ("protected", "any columns of the table; race as in the paper unless told otherwise"),
        ("complete", "only people without a missing value, 45,222 (default), or all 48,842"),
        ("race", '"as_is" (five groups) or "white_or_not" (two)'),
        ("education", '"number" (ordered, default), "name" (levels) or "both"'),
        ("survey_weights", "weigh people by fnlwgt"),
    ),
    description=(
        "Whether a person earns more than 50,000 dollars a year, from a census extract of 1994. 48,842 "
        "people, 45,222 without missing values (the paper's 45,000), of whom 24.78 % earn more. The "
        "training and the test part of the publisher are read as one table."
    ),
)

_DEFAULT = Entry(
    name="default",
    title="Default of Credit Card Clients",
    source="UCI Machine Learning Repository; a bank in Taiwan, 2005",
    citation="Yeh, I-C. (2009). Default of Credit Card Clients. https://doi.org/10.24432/C55S3H",
    licence="CC BY 4.0",
    page=f"{_UCI}/dataset/350/default+of+credit+card+clients",
    files=(
        DataFile(
            "default/default_of_credit_card_clients.csv",
            "bf15b02eb5a2c34f01f6d071083ecb7b8f4e803a4280a7ef497903d84c791c48",
            (f"{_UCI}/static/public/350/data.csv",),
            client_names,
        ),
    ),
    target="default payment next month",
    task="classification",
    positive="default",
    protected=("SEX", "EDUCATION", "MARRIAGE"),
    categorical=("SEX", "EDUCATION", "MARRIAGE"),
    dropped=(("ID", "a row number"),),
    groups="SEX as recorded: male, female",
    options=(("protected", "any columns of the table; SEX as in the paper unless told otherwise"),),
    description=(
        "Whether a credit card client fails to pay next month. 30,000 clients, 22.12 % of whom default (men "
        "24.17 %, women 20.78 %). Codes that the publisher does not explain (EDUCATION 0, 5, 6; MARRIAGE 0) "
        "are levels of their own; PAY_* are months of delay, with −2 and 0 unexplained, and stay numbers."
    ),
)

_COMPAS = Entry(
    name="compas",
    title="COMPAS recidivism, Broward County",
    source="ProPublica, 2016; public records of Broward County, Florida, 2013–2014",
    citation="Angwin, J., Larson, J., Mattu, S. and Kirchner, L. (2016). Machine Bias. ProPublica.",
    licence="published without a stated licence; public records, not redistributed with this package",
    page="https://github.com/propublica/compas-analysis",
    files=(
        DataFile(
            "compas/compas-scores.csv",
            "4aa04e7f6e968b5944630646fa8ea22fbede796bb07ef5b1a6a619618df8020f",
            (f"{_PROPUBLICA}/compas-scores.csv",),
            without_people,
        ),
        DataFile(
            "compas/compas-scores-two-years.csv",
            "6a21caf16e042f056689f18fc0772b0d1ab45bbf7b6e487e8864e048e7479938",
            (f"{_PROPUBLICA}/compas-scores-two-years.csv",),
            without_people,
        ),
        DataFile(
            "compas/compas-scores-two-years-violent.csv",
            "79da20dac531f5558768284b864014e949a05f6c76d08c7a3c2d0eba76d28408",
            (f"{_PROPUBLICA}/compas-scores-two-years-violent.csv",),
            without_people,
        ),
    ),
    target="is_violent_recid",
    task="classification",
    positive="new violent charge",
    protected=("race", "sex"),
    categorical=("sex", "race", "age_cat", "c_charge_degree", "c_charge_desc"),
    dropped=(
        (
            "id, name, first, last, dob, *_case_number",
            "they say who the person is: dropped on reading, never cached",
        ),
        ("decile_score, score_text, v_*", "COMPAS's own predictions"),
        ("is_recid, r_*, vr_*, num_*, violent_recid, event", "they tell the outcome"),
        ("*_date, *_jail_in, *_jail_out, *_custody, start, end", "dates and times"),
        ("type_of_assessment", "the same for everybody"),
        (
            "age_cat, c_charge_desc, c_days_from_compas",
            "a coarse age, 505 charges, a near copy (option extra)",
        ),
    ),
    groups="race as recorded (six groups), or African-American and not",
    options=(
        ("kind", '"violent" (is_violent_recid, default), "two_year" or "violent_two_year" (two_year_recid)'),
        ("protected", "any columns of the table; race as in the paper unless told otherwise"),
        ("race", '"as_is" (six groups) or "african_american_or_not" (two)'),
        ("complete", "only people without a missing value in a column that is kept"),
        ("screened_within_30_days", "ProPublica's own filter (6,172 people of the two-year table)"),
        ("extra", "further columns: age_cat, c_charge_desc, c_days_from_compas"),
    ),
    description=(
        "Whether a person charged in Broward County is charged again. The violent kind follows the paper: "
        "10,552 people with a known outcome, a jail record, both scores and a described charge that is not "
        "a traffic offence, of whom 8.2 % have a new violent charge, so that a constant tree is right for "
        "91.8 %. The paper names 10,500 people and 16 features without listing them; eight remain here when "
        "scores, consequences, dates, names and copies are left out. The two-year kind (7,214 people, 45.07 "
        "%) is the balanced one most of the literature uses. A charge is not proof of an offence."
    ),
)

_COMMUNITIES = Entry(
    name="communities",
    title="Communities and Crime",
    source="UCI Machine Learning Repository; census 1990, LEMAS survey 1990, FBI crime reports 1995",
    citation="Redmond, M. (2002). Communities and Crime. https://doi.org/10.24432/C53W3X",
    licence="CC BY 4.0",
    page=f"{_UCI}/dataset/183/communities+and+crime",
    files=(
        DataFile(
            "communities/communities.data",
            "09e0b5c07eae24c1efab19b2edee05e160e7f5743b6f31e31eec3d73624da2ea",
            (
                f"{_UCI}/static/public/183/communities+and+crime.zip",
                f"{_UCI}/ml/machine-learning-databases/communities/communities.data",
            ),
        ),
        DataFile(
            "communities/CommViolPredUnnormalizedData.txt",
            "b090072d0e8d140a936d2411704ed29b2681e4805b805a9c8c6bdb072c5416c3",
            (f"{_UCI}/static/public/211/communities+and+crime+unnormalized.zip", _COMMUNITIES_COPY),
            communities_header,
        ),
    ),
    target="ViolentCrimesPerPop",
    task="regression",
    positive=None,
    protected=("race",),
    categorical=("race",),
    dropped=(
        ("state, county, community, communityname, fold", "they say which community it is"),
        ("racepctblack, racePctWhite, racePctAsian, racePctHisp", "race is protected and never a feature"),
    ),
    groups="a community is majority Black, or not (58 of 1,994); or normalised racepctblack above 0.5 (239)",
    options=(
        (
            "definition",
            '"majority_black" (true share above 50 %, default) or "normalised" (column above 0.5)',
        ),
        ("features", '"complete" (95 columns without gaps, default), "all" (118), or a list of names'),
        ("n_features", "keep that many, the most important by repeated cross-validation (the paper: 11)"),
    ),
    description=(
        "The violent crime rate of 1,994 communities in the United States, scaled to 0–1, from census and "
        "police figures. All columns are scaled and clipped by the publisher, so that a normalised "
        "racepctblack of 0.5 is about 26 % Black inhabitants; the true share is read from the unnormalised "
        "table, joined on name and state."
    ),
)

_DIABETES = Entry(
    name="diabetes",
    title="Diabetes progression",
    source="shipped with scikit-learn; Efron, Hastie, Johnstone and Tibshirani",
    citation="Efron, B., Hastie, T., Johnstone, I. and Tibshirani, R. (2004). Least Angle Regression.",
    licence="as shipped with scikit-learn (BSD 3-Clause)",
    page="https://www4.stat.ncsu.edu/~boos/var.select/diabetes.html",
    files=(),
    target="progression",
    task="regression",
    positive=None,
    protected=("sex",),
    categorical=("sex",),
    dropped=(),
    groups="sex as coded by the publisher, 1 and 2; which is which is not documented",
    options=(),
    description=(
        "How far diabetes has progressed in 442 patients after one year, from nine measurements in their "
        "own units (age, body mass index, blood pressure, six blood values)."
    ),
)

REGISTRY: Mapping[str, Entry] = MappingProxyType(
    {entry.name: entry for entry in (_ADULT, _DEFAULT, _COMPAS, _COMMUNITIES, _DIABETES)}
)


def names() -> tuple[str, ...]:
    """The data sets there are."""
    return tuple(REGISTRY)


def find(name: str) -> Entry:
    """The entry of a data set; a misspelt name is answered with the nearest one."""
    return REGISTRY[one_of("a data set", name, tuple(REGISTRY))]


def describe(name: str) -> str:
    """What a data set is, whence it comes, what was left out of it and why."""
    return find(name).text()

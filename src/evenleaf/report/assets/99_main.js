makeHead();
makeHandle();
makeAsked();
makeExplore();
makePrefer();
makeGroups();
makeGaps();
makeDifferent();
makeAsk();
makeReading();
makeLimits();
makeAgain();

// On paper nothing can be opened: what is folded is printed open, and folded again afterwards.
let folded = [];
window.addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details.more:not([open])")];
  folded.forEach((details) => { details.open = true; });
});
window.addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
document.documentElement.dataset.ready = "yes";

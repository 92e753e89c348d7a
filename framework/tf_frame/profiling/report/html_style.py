"""Style sheet of the HTML page: colours of light and dark screens, one column on a phone.

`c0` to `c8` are colours for parts of one whole; they differ in brightness too, so that they can be
told apart in black and white. `warn` is for what needs attention.
"""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --back: #f6f7f9; --card: #ffffff; --line: #e1e4e9; --text: #1c2430; --soft: #5c6675;
  --c0: #2f6fb3; --c1: #d9772b; --c2: #23897c; --c3: #8457c2; --c4: #c23b60; --c5: #b58a12;
  --c6: #76818f; --c7: #c3c9d1; --c8: #8a5a3c; --warn: #d14b3a; --hint: #fff4e5; --good: #e9f6ef;
  --inside: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #12161c; --card: #1b212a; --line: #303946; --text: #e7ebf0; --soft: #9aa6b5;
    --c0: #5b9be0; --c1: #eb9a55; --c2: #45b8a8; --c3: #ab86e0; --c4: #e4708f; --c5: #d9b24a;
    --c6: #8f9bab; --c7: #4a5463; --c8: #b98a68; --warn: #f0806f; --hint: #3a2c18; --good: #17332a;
    --inside: #10141a;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: clamp(.6rem, 3vw, 1.2rem); max-width: 72rem;
  background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
}
h1 { font-size: 1.35rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 0 0 .7rem; }
p { margin: .3rem 0; }
.soft, small { color: var(--soft); }
section, .tile {
  background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: clamp(.7rem, 3vw, 1rem); min-width: 0;
}
section { margin-top: 1rem; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); }
.pair, .tiles { column-gap: 1rem; }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .8rem;
  margin-top: 1rem;
}
.tile b { display: block; font-size: 1.45rem; line-height: 1.3; }
.hint { background: var(--hint); border-left: 4px solid var(--warn); }
.good { background: var(--good); border-left: 4px solid var(--c2); }
.hint, .good { border-radius: 6px; padding: .6rem .8rem; margin-top: .6rem; }
.hint, .good { overflow-wrap: anywhere; }
code { white-space: nowrap; }
.whole rect { stroke: var(--card); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th { font-weight: 600; color: var(--soft); font-size: .85rem; }
th, td { text-align: left; padding: .28rem .6rem .28rem 0; vertical-align: top; }
tbody tr { border-top: 1px solid var(--line); }
th.n, td.n { text-align: right; white-space: nowrap; }
.wide { min-width: min(13rem, 34vw); overflow-wrap: anywhere; }
.whole { margin-bottom: .5rem; }
.alarm { color: var(--warn); font-weight: 600; }
summary { cursor: pointer; margin-top: .5rem; }
.swatch { display: inline-block; width: .8em; height: .8em; margin-right: .5em; }
svg { display: block; overflow: visible; }
svg text { fill: var(--soft); font-size: 12px; }
svg text { stroke: var(--card); stroke-width: 3px; paint-order: stroke; }
svg text.inside { fill: var(--inside); font-weight: 600; stroke: none; }
.mark { stroke: var(--text); stroke-dasharray: 4 3; }
.axis { stroke: var(--line); }
""" + "\n".join(
    f".{name} {{ fill: var(--{name}); background: var(--{name}); }}"
    for name in ("c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "warn")
)

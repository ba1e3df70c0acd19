/**
 * Whether a whole text matches a glob: `*` stands for any number of characters, `?` for one. There is no way to write
 * these two literally; an expression can. In time of at most the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let inGlob = 0
  let inText = 0
  // Where to go on when what came after the last star does not fit: the star then takes one character more.
  let afterStar = -1
  let takenByStar = 0
  while (inText < text.length) {
    const wanted = characterAt(glob, inGlob)
    const found = characterAt(text, inText)
    if (wanted === '*') {
      inGlob += 1
      afterStar = inGlob
      takenByStar = inText
    } else if (wanted === '?' || wanted === found) {
      inGlob += wanted.length
      inText += found.length
    } else if (afterStar >= 0) {
      takenByStar += characterAt(text, takenByStar).length
      inGlob = afterStar
      inText = takenByStar
    } else {
      return false
    }
  }
  while (glob[inGlob] === '*') inGlob += 1
  return inGlob === glob.length
}

/** The character that begins at an index, which may be two units long. */
function characterAt(text: string, index: number): string {
  const code = text.codePointAt(index)
  return code === undefined ? '' : String.fromCodePoint(code)
}

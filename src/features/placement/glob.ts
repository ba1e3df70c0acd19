/**
 * Whether a whole text matches a glob: `*` matches any number of characters, `?` one. These two can't be matched
 * literally, except with a regular expression. Takes time proportional to at most the product of the two lengths.
 */
export function matchesGlob(glob: string, text: string): boolean {
  let inGlob = 0
  let inText = 0
  // The position to continue from if the rest after the last star does not match: the star then matches one more
  // character.
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

/** The character at an index, which may be two code units long. */
function characterAt(text: string, index: number): string {
  const code = text.codePointAt(index)
  return code === undefined ? '' : String.fromCodePoint(code)
}

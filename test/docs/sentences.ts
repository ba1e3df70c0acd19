/**
 * The sentences of a page of the manual by its headings, as a reader sees them: without code blocks, and without the targets
 * of links.
 */

/** Rows of tables and items of lists are sentences of their own, and so is what a colon or a warning introduces. */
export function sentencesOf(page: string): [heading: string, sentences: string[]][] {
  const sections: [string, string[]][] = []
  const text = page
    .replace(/^---\n.*?\n---\n/s, '')
    .replace(/^( *)```.*?^\1```$/gms, '')
    .replace(/^:::.*$/gm, '')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  let heading = ''
  for (const block of text.split(/\n{2,}|\n(?=\s*(?:- |\d+\. |\||#))/)) {
    const line = block.trim().replace(/\s*\n\s*/g, ' ')
    const [, level, title] = /^(#+) (.*)$/.exec(line) ?? []
    if (level) {
      heading = title!
      sections.push([heading, []])
      continue
    }
    if (line === '' || /^\|[ |-]+\|$/.test(line)) continue
    if (sections.length === 0) sections.push([heading, []])
    sections.at(-1)![1].push(...split(line.replace(/^(- |\d+\. )/, '')))
  }
  return sections
}

/** A row is one sentence. Otherwise, one ends before a capital, unless the sign is in an address, a number or `code`. */
function split(line: string): string[] {
  if (line.startsWith('|')) return [line]
  return line
    .split(/(?<=[.:!?]\**)(?<!\b(?:e\.g|i\.e)\.) (?=\**[A-Z`“])/)
    .map((sentence) => sentence.trim())
    .filter(Boolean)
}

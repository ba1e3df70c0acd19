/** Reads what Tally’s PDFs say to screen readers, without a library: their objects, structure and marked content. */
import { inflateSync } from 'node:zlib'

export interface StructureElement {
  type: string
  /** What its dictionary has besides its place in the tree, as PDF: `/Scope /Row`. */
  attributes: string
  children: StructureElement[]
  /** How many pieces of content it has itself. */
  pieces: number
}

export interface PdfStructure {
  catalog: string
  root: StructureElement
  /** Drawing operators outside of marked content. */
  unmarked: string[]
  /** Pieces of content of the pages that no element has, or more than one. */
  misplaced: string[]
}

export function structureOf(bytes: Uint8Array): PdfStructure {
  const objects = objectsOf(Buffer.from(bytes).toString('latin1'))
  const find = (pattern: RegExp) => [...objects.values()].find(({ dictionary }) => pattern.test(dictionary))!
  const catalog = find(/\/Type \/Catalog/).dictionary
  const tree = objects.get(Number(/\/StructTreeRoot (\d+) 0 R/.exec(catalog)![1]))!.dictionary
  const used = new Map<string, number>()
  const elementOf = (id: number): StructureElement => {
    const { dictionary } = objects.get(id)!
    const type = /\/S \/(\w+)/.exec(dictionary)![1]!
    const page = /\/Pg (\d+) 0 R/.exec(dictionary)?.[1]
    const kids = /\/K \[([^\]]*)\]/.exec(dictionary)?.[1] ?? ''
    const pieces = [
      ...[...kids.matchAll(/\/Pg (\d+) 0 R\s+\/MCID (\d+)/g)].map(([, other, piece]) => `${other} ${piece}`),
      ...[...kids.replaceAll(/<<[\s\S]*?>>|\d+ 0 R/g, '').matchAll(/\d+/g)].map(([piece]) => `${page} ${piece}`),
    ]
    for (const piece of pieces) used.set(piece, (used.get(piece) ?? 0) + 1)
    const elements = [...kids.replaceAll(/<<[\s\S]*?>>/g, '').matchAll(/(\d+) 0 R/g)]
    const children = elements.map(([, child]) => elementOf(Number(child)))
    const attributes = dictionary.replace(kids, '').replaceAll(/\s+/g, ' ')
    return { type, attributes, children, pieces: pieces.length }
  }
  const root = elementOf(Number(/\/K \[(\d+) 0 R\]/.exec(tree)![1]))
  const unmarked: string[] = []
  const drawn: string[] = []
  for (const [id, { dictionary }] of objects) {
    if (!/\/Type \/Page\b/.test(dictionary)) continue
    const content = objects.get(Number(/\/Contents (\d+) 0 R/.exec(dictionary)![1]))!.stream!
    const { outside, pieces } = markedContent(content)
    unmarked.push(...outside)
    drawn.push(...pieces.map((piece) => `${id} ${piece}`))
  }
  const misplaced = [...new Set([...drawn, ...used.keys()])].filter(
    (piece) => used.get(piece) !== 1 || drawn.filter((each) => each === piece).length !== 1,
  )
  return { catalog, root, unmarked, misplaced }
}

/** All elements of a type below one, in reading order. */
export function elementsOf({ children }: StructureElement, type: string): StructureElement[] {
  return children.flatMap((child) => [...(child.type === type ? [child] : []), ...elementsOf(child, type)])
}

interface PdfObject {
  dictionary: string
  stream?: string
}

function objectsOf(text: string): Map<number, PdfObject> {
  const objects = new Map<number, PdfObject>()
  for (const [, id, body = ''] of text.matchAll(/(?<=^|\n)(\d+) 0 obj\n([\s\S]*?)\nendobj/g)) {
    const at = body.indexOf('stream\n')
    const dictionary = at < 0 ? body : body.slice(0, at)
    const raw = at < 0 ? undefined : body.slice(at + 'stream\n'.length, body.lastIndexOf('\nendstream'))
    const stream = raw !== undefined && dictionary.includes('/FlateDecode') ? inflated(raw) : raw
    objects.set(Number(id), { dictionary, ...(stream !== undefined && { stream }) })
    if (!dictionary.includes('/ObjStm')) continue
    const first = Number(/\/First (\d+)/.exec(dictionary)![1])
    const numbers = stream!.slice(0, first).trim().split(/\s+/).map(Number)
    for (let index = 0; index < numbers.length; index += 2) {
      const end = numbers[index + 3] ?? stream!.length
      objects.set(numbers[index]!, { dictionary: stream!.slice(first + numbers[index + 1]!, first + end) })
    }
  }
  return objects
}

const inflated = (text: string) => inflateSync(Buffer.from(text, 'latin1')).toString('latin1')

/** The operators that draw, and the marks around them. */
const OPERATORS =
  /\/\w+ (?:<<[\s\S]*?\/MCID (\d+)[\s\S]*?>> BDC|<<[\s\S]*?>> BDC|BMC)|\bEMC\b|\b(TJ|Tj|Do|S|f)(?=\n|$)/g

function markedContent(content: string): { outside: string[]; pieces: string[] } {
  const outside: string[] = []
  const pieces: string[] = []
  let depth = 0
  for (const [operator, piece, drawing] of content.matchAll(OPERATORS)) {
    if (drawing !== undefined) {
      if (depth !== 1) outside.push(`${drawing} in ${depth} marks`)
    } else if (operator === 'EMC') {
      depth -= 1
    } else {
      depth += 1
      if (piece !== undefined) pieces.push(piece)
    }
  }
  return { outside, pieces }
}

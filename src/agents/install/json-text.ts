/**
 * Changes of JSON with comments that touch nothing else: a value is inserted between existing characters, and is
 * removed together with its comma and the space before it. Libraries for this also reformat adjacent lines, and remove
 * comments together with the preceding value.
 */
import { findNodeAtLocation, type JSONPath, type Node, parseTree, stripComments } from 'jsonc-parser'
import { lineEnd, SettingsError } from './installer.ts'

const SPACE_AND_COMMENTS = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y

/** The rest of a line if it contains only a comment. */
const END_OF_LINE = /[ \t]*(?:\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/[ \t]*)?(?=\r?\n)/y

/** Adds a value at the end of the list at `parent`, or under `name` at the end of the object. */
export function withAdded(text: string, parent: JSONPath, value: unknown, name?: string): string {
  const node = nodeAt(text, parent)
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  const last = node.children?.at(-1)
  if (last) return withAppended(text, node, last, label, value)
  const outer = indentAt(text, node.offset)
  const indent = outer + unitOf(text)
  const inside = text.slice(node.offset + 1, node.offset + node.length - 1)
  const tail = /^\s*\n\s*$/.test(inside) ? '' : lineEnd(text) + outer
  return spliced(text, node.offset + 1, 0, lineEnd(text) + indent + label + jsonText(text, value, indent) + tail)
}

/** Replaces the value at `path`. */
export function withReplaced(text: string, path: JSONPath, value: unknown): string {
  const { offset, length } = nodeAt(text, path)
  return spliced(text, offset, length, jsonText(text, value, indentAt(text, offset)))
}

/** Removes the value at `path`, including its name. */
export function withRemoved(text: string, path: JSONPath): string {
  const value = nodeAt(text, path)
  const node = value.parent!.type === 'property' ? value.parent! : value
  const siblings = node.parent!.children!
  const before = siblings[siblings.indexOf(node) - 1]
  const gap = text.slice(before ? before.offset + before.length : node.parent!.offset + 1, node.offset)
  // The line end after a comment must stay.
  const space = gap.includes('//') ? /[ \t]*$/ : /\s*$/
  const start = node.offset - space.exec(gap)![0].length
  const end = node.offset + node.length
  const comma = commaAfter(text, node)
  if (comma !== undefined) return spliced(spliced(text, comma, 1, ''), start, end - start, '')
  const without = spliced(text, start, end - start, '')
  const commaBefore = before && commaAfter(text, before)
  return commaBefore === undefined ? without : spliced(without, commaBefore, 1, '')
}

/** Whether there are comments within the value at `path`. */
export function hasComments(text: string, path: JSONPath): boolean {
  const value = nodeAt(text, path)
  const { offset, length } = value.parent?.type === 'property' ? value.parent : value
  const part = text.slice(offset, offset + length)
  return stripComments(part) !== part
}

/**
 * Throws if the node is not at the path where the parsed value has it: this happens if an object contains a name twice.
 */
function nodeAt(text: string, path: JSONPath): Node {
  const node = findNodeAtLocation(parseTree(text, [], { allowTrailingComma: true })!, path)
  if (!node) throw notUnderstood()
  return node
}

export function notUnderstood(): SettingsError {
  return new SettingsError('cannot be changed safely. Check whether it contains a name twice')
}

/** Inserts after the last member, its comma, and a comment on the same line. */
function withAppended(text: string, parent: Node, last: Node, label: string, value: unknown): string {
  const comma = commaAfter(text, last)
  const end = comma === undefined ? last.offset + last.length : comma + 1
  END_OF_LINE.lastIndex = end
  const place = END_OF_LINE.test(text) ? END_OF_LINE.lastIndex : end
  // A single line stays single, unless it ends with a comment.
  const isOneLine = place === end && !text.slice(parent.offset, last.offset).includes('\n')
  const indent = isOneLine ? undefined : indentAt(text, last.offset)
  const lead = indent === undefined ? ' ' : lineEnd(text) + indent
  const added = spliced(text, place, 0, lead + label + jsonText(text, value, indent))
  return comma === undefined ? spliced(added, end, 0, ',') : added
}

function commaAfter(text: string, { offset, length }: Node): number | undefined {
  SPACE_AND_COMMENTS.lastIndex = offset + length
  SPACE_AND_COMMENTS.test(text)
  return text[SPACE_AND_COMMENTS.lastIndex] === ',' ? SPACE_AND_COMMENTS.lastIndex : undefined
}

/** On one line if there is no indent. */
function jsonText(text: string, value: unknown, indent: string | undefined): string {
  if (indent === undefined) return JSON.stringify(value)
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', lineEnd(text) + indent)
}

/** The indentation unit of the file. */
function unitOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
}

/** The indentation of the line. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))![0]
}

function spliced(text: string, offset: number, length: number, replacement: string): string {
  return text.slice(0, offset) + replacement + text.slice(offset + length)
}

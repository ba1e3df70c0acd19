/** A price file in any of the supported formats. */
import { Problem } from '../../../errors.ts'
import { JsonSyntaxError } from '../../../lib/json-cursor.ts'
import { atOnce, type Steps } from '../../../lib/portions.ts'
import { TABLE_FORMATS, type TableFormat } from '../sources.ts'
import { TableDocument } from './document.ts'
import { isGenaiPrices, readGenaiPrices } from './genai-prices.ts'
import { isLitellm, readLitellm } from './litellm.ts'
import { isModelsDev, readModelsDev } from './models-dev.ts'
import type { TableNotes, TableReading } from './reader.ts'
import { isTallyCsv, isTallyJson, readTallyCsv, readTallyJson, TALLY_FIELDS } from './tally.ts'

interface JsonFormat {
  format: TableFormat
  fits: (document: TableDocument) => boolean
  read: (document: TableDocument) => Steps<TableNotes>
}

/** In the order in which they are tried; each has characteristics that the others don't. */
const JSON_FORMATS: JsonFormat[] = [
  { format: 'tally', fits: isTallyJson, read: readTallyJson },
  { format: 'litellm', fits: isLitellm, read: readLitellm },
  { format: 'models-dev', fits: isModelsDev, read: readModelsDev },
  { format: 'genai-prices', fits: isGenaiPrices, read: readGenaiPrices },
]

/** The file can't be read at all, so nothing is loaded. */
function unreadableTable(why: string): Problem {
  return new Problem('unreadable_price_table', `Tally cannot read this price table: ${why}.`)
}

/**
 * Reads the file. Without `requested`, it is detected from the content. Throws `unreadable_price_table` (422) for a file
 * that is not a price table, or not in the given format.
 */
export function readTable(text: string, requested?: TableFormat): ReadTable {
  return atOnce(tableSteps(text, requested))
}

interface ReadTable {
  format: TableFormat
  reading: TableReading
}

/** The same, model by model: a large table takes a tenth of a second or more. */
export function* tableSteps(text: string, requested?: TableFormat): Steps<ReadTable> {
  const isJson = /^\ufeff?\s*[[{]/.test(text)
  if (!isJson) return { format: 'tally', reading: readCsv(text, requested) }
  try {
    return yield* readJson(new TableDocument(text.replace(/^\ufeff/, '')), requested)
  } catch (error) {
    if (error instanceof JsonSyntaxError || error instanceof SyntaxError) throw unreadableTable('it is not valid JSON')
    if (error instanceof RangeError) throw unreadableTable(error.message)
    throw error
  }
}

function* readJson(document: TableDocument, requested?: TableFormat): Steps<ReadTable> {
  yield
  const found = JSON_FORMATS.find(
    ({ format, fits }) => (requested === undefined || requested === format) && fits(document),
  )
  yield
  if (found) return { format: found.format, reading: settled(yield* found.read(document)) }
  if (requested) throw unreadableTable(`it is not in the format ${requested}`)
  throw unreadableTable(`it is not in a supported format (${TABLE_FORMATS.join(', ')})`)
}

function settled(table: TableNotes): TableReading {
  table.settleDuplicates()
  return table
}

function readCsv(text: string, requested: TableFormat | undefined): TableReading {
  if (requested !== undefined && requested !== 'tally')
    throw unreadableTable(`the format ${requested} is JSON, but this file is not`)
  try {
    if (isTallyCsv(text)) return settled(readTallyCsv(text))
  } catch (error) {
    if (error instanceof RangeError) throw unreadableTable(error.message)
    throw error
  }
  throw unreadableTable(`it is neither JSON nor CSV with a header line of the columns ${TALLY_FIELDS.join(', ')}`)
}

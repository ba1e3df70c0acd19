/** What the command line shares of prices. */
export { PRICE_SOURCES, TABLE_FORMATS, type TableFormat } from './sources.ts'

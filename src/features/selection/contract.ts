/** What other features share of selecting entries. */
export { isCostMismatch } from './cost-mismatch.ts'
export {
  dependsOnBilling,
  type EntryFilter,
  isIndexed,
  isSelective,
  listPath,
  OPEN_STATUSES,
  orderedPart,
  PLACELESS,
  partsOf,
  readFilter,
} from './filter.ts'
export {
  COST_SORTS,
  ENTRY_FORMATS,
  type EntrySort,
  type FigureOrder,
  type FigurePosition,
  LIST_ORDERS,
  LIST_SORTS,
  type ListOrder,
  type ListSort,
  type Position,
  readFigurePage,
  readPage,
  type Section,
  type SortFigure,
  writeFigurePage,
  writePage,
} from './order.ts'
export { amountOf, conditionOf, costOf } from './sql/conditions.ts'
export { COUNT_COLUMNS, sortFigure } from './sql/sort-figures.ts'

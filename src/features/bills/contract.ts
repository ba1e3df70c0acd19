/** What other features and the command line share of bills. */
export { minorDigitsOf } from './currency.ts'

/** A price in a column of prices, which are aligned at the decimal point. */
import { missingDecimals, type Price, priceText } from './price.ts'
import classes from './price-cell.module.css'

export function PriceCell({ price }: { price: Price['input'] | undefined }) {
  const text = priceText(price)
  return (
    <span className={classes.price} data-missing={missingDecimals(price)}>
      {text}
    </span>
  )
}

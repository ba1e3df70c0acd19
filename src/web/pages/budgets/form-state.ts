import type { UseFormReturnType } from '@mantine/form'
import type { BudgetValues } from './budget-values.ts'

/** The form of a budget, for its parts. */
export type BudgetFormState = UseFormReturnType<BudgetValues>

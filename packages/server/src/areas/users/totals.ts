export { addToTotal, getTotal } from '../../platform/db/totals.ts'

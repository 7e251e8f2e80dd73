/** Formulas of classifiers: `<label>_greaterThan_<percent>`. */
const FORMULA = /^(.{1,80})_greaterThan_(\d{1,2}|100)$/

export interface Formula {
  label: string
  percent: number
}

export const isFormula = (text: string): boolean => FORMULA.test(text)

/** Rules contain only formulas that are valid. */
export function readFormula(text: string): Formula {
  const [, label = '', percent = ''] = FORMULA.exec(text) ?? []
  return { label, percent: Number(percent) }
}

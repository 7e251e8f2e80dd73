/** The round numbers at which an axis can end, times a power of ten. */
const STEPS = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

/** The smallest round number that is at least the value. */
export function roundUp(value: number): number {
  if (value <= 4) return 4
  const power = 10 ** Math.floor(Math.log10(value))
  const step = STEPS.find((candidate) => candidate * power >= value) ?? 10
  return step * power
}

/** The line through the values in a box of 100 by 100, as the `d` of an SVG path. */
export function pathOf(values: readonly number[], max: number): string {
  const last = Math.max(values.length - 1, 1)
  return values
    .map((value, n) => `${n ? 'L' : 'M'}${(n / last) * 100} ${100 - (value / max) * 100}`)
    .join('')
}

/** The line with the area below it. */
export const areaOf = (values: readonly number[], max: number) =>
  `${pathOf(values, max)}L100 100L0 100Z`

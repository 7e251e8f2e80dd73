/** Where apps can live. */
export const regions = ['us', 'eu', 'in'] as const
export type Region = (typeof regions)[number]

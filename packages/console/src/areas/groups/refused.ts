/** What came of each uid of a request, in the lists that were sent. */
type Outcomes = Record<
  string,
  Record<string, { success: boolean; error?: { message: string } }> | undefined
>

/** `uid: why` of those that were not taken: each stands for itself, the others were. */
export const refusedOf = (outcomes: Outcomes): string[] =>
  Object.values(outcomes)
    .flatMap((list) => Object.entries(list ?? {}))
    .filter(([, { success }]) => !success)
    .map(([uid, { error }]) => `${uid}: ${error?.message}`)

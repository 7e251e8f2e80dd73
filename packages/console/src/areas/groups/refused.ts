/** The outcome for each UID of a request, in the lists of the request. */
type Outcomes = Record<
  string,
  Record<string, { success: boolean; error?: { message: string } }> | undefined
>

/** `uid: reason` for each user who could not be added. The others were added. */
export const refusedOf = (outcomes: Outcomes): string[] =>
  Object.values(outcomes)
    .flatMap((list) => Object.entries(list ?? {}))
    .filter(([, { success }]) => !success)
    .map(([uid, { error }]) => `${uid}: ${error?.message}`)

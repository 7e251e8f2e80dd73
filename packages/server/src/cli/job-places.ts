import type { Deps } from '../deps.ts'
import type { Cell } from '../platform/cells/directory.ts'
import { UserError } from '../platform/errors.ts'

/** A cell, and the app if only one is meant. */
export interface JobPlace {
  cell: Cell
  appNo: number | undefined
}

type Flag = string | boolean | undefined

/** Where to look for jobs: at one app, in one cell, or in all cells. */
export async function jobPlaces(
  { directory }: Deps,
  { cell, app }: { cell?: Flag; app?: Flag },
): Promise<JobPlace[]> {
  if (typeof app === 'string') {
    const found = await directory.find(app)
    if (!found?.cell) throw new UserError(`There is no app "${app}".`)
    return [{ cell: found.cell, appNo: found.no }]
  }
  const places = directory.cells().map((each) => ({ cell: each, appNo: undefined }))
  const chosen = cell === undefined ? places : places.filter((place) => place.cell.id === cell)
  if (chosen.length === 0) throw new UserError(`There is no cell "${cell}".`)
  return chosen
}

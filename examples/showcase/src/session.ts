/** Who uses this window. The example server knows the people and gives out their auth tokens. */
export interface Person {
  uid: string
  name: string
  statusMessage?: string
}

export interface Session {
  uid: string
  appId: string
  authToken: string
}

/** Stored per window, so that another window can sign in as someone else. */
const STORED = 'loquat-session'

export const storedSession = (): Session | undefined =>
  JSON.parse(sessionStorage.getItem(STORED) ?? 'null') ?? undefined

export function storeSession(session: Session | undefined): void {
  if (session) sessionStorage.setItem(STORED, JSON.stringify(session))
  else sessionStorage.removeItem(STORED)
}

async function read<T>(path: string): Promise<T> {
  const answer = await fetch(path)
  if (!answer.ok) throw new Error('The example server doesn’t answer. Start it: npm run example')
  return answer.json()
}

export const listPeople = () => read<Person[]>('/people')

export async function signIn(uid: string): Promise<Session> {
  const { appId, authToken } = await read<Session>(`/session?uid=${encodeURIComponent(uid)}`)
  return { uid, appId, authToken }
}

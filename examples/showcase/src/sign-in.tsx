import { Avatar } from '@loquat/react'
import { useEffect, useState } from 'react'
import { listPeople, type Person, type Session, signIn } from './session.ts'

/** Anybody can be anybody here. Your app has its own way to sign in. */
export function SignIn({ onSession }: { onSession: (session: Session) => void }) {
  const [people, setPeople] = useState<Person[]>()
  const [problem, setProblem] = useState('')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const ask = async () => {
      try {
        setPeople(await listPeople())
        setProblem('')
      } catch (error) {
        setProblem((error as Error).message)
        // At its first start, the example server prepares the app before it answers.
        timer = setTimeout(ask, 500)
      }
    }
    void ask()
    return () => clearTimeout(timer)
  }, [])
  const enter = (uid: string) =>
    signIn(uid).then(onSession, ({ message }: Error) => setProblem(message))
  return (
    <div className="lq sign-in">
      <main>
        <img src="/loquat.svg" alt="" width="44" height="44" />
        <h1>Loquat</h1>
        <p className="lq-soft">
          Choose a user to sign in as. Open a second window to see both sides of a conversation.
        </p>
        {problem && (
          <p className="problem" role="alert">
            {problem}
          </p>
        )}
        <ul>
          {people?.map((person) => (
            <li key={person.uid}>
              <button type="button" onClick={() => void enter(person.uid)}>
                <Avatar id={person.uid} name={person.name} />
                <span>
                  <strong>{person.name}</strong>
                  {person.statusMessage && (
                    <small className="lq-soft">{person.statusMessage}</small>
                  )}
                </span>
              </button>
            </li>
          ))}
        </ul>
        {people?.length === 0 && <p className="problem">This app has no users yet.</p>}
      </main>
    </div>
  )
}

import { Avatar, Icon, useClient } from '@loquat/react'
import { type ReactNode, useEffect, useState } from 'react'
import { listPeople, type Person, type Session, signIn } from './session.ts'

interface MeProps {
  onSession: (session: Session) => void
  onSignOut: () => void
  /** Buttons. */
  children: ReactNode
}

/** Who uses this window, and who else could. */
export function Me({ onSession, onSignOut, children }: MeProps) {
  const { uid } = useClient()
  const [people, setPeople] = useState<Person[]>([])
  const [problem, setProblem] = useState('')
  useEffect(() => {
    listPeople().then(setPeople, () => undefined)
  }, [])
  const name = people.find((one) => one.uid === uid)?.name ?? uid
  const change = (person: Person) =>
    void signIn(person.uid).then(onSession, (error: Error) => setProblem(error.message))
  return (
    <header className="me">
      <button type="button" className="me-button" popoverTarget="people">
        <Avatar id={uid} name={name} withPresence />
        <strong className="lq-clip">{name}</strong>
        <Icon name="switch" size={14} />
        <span className="lq-hidden">Switch person</span>
      </button>
      {children}
      <div id="people" popover="auto" className="lq-popover people">
        <p className="lq-soft">Continue as</p>
        {people
          .filter((one) => one.uid !== uid)
          .map((person) => (
            <button key={person.uid} type="button" onClick={() => change(person)}>
              <Avatar id={person.uid} name={person.name} withPresence />
              <span className="lq-clip">{person.name}</span>
            </button>
          ))}
        <hr />
        <a href="/" target="_blank" rel="noopener">
          <Icon name="window" />
          Open a second window
        </a>
        <button type="button" onClick={onSignOut}>
          <Icon name="leave" />
          Sign out
        </button>
      </div>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </header>
  )
}

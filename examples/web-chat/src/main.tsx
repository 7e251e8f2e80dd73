import { LoquatClient } from '@loquat/sdk/client'
import { StrictMode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Chat } from './chat.tsx'
import './style.css'

interface Session {
  uid: string
  appId: string
  authToken: string
}

/** Stored per window, so that another window can sign in as someone else. */
const STORED = 'loquat-session'

async function signIn(uid: string): Promise<Session> {
  const answer = await fetch(`/session?uid=${uid}`)
  if (!answer.ok) throw new Error('Sign-in failed. Is the example server running?')
  return { uid, ...(await answer.json()) }
}

function App() {
  const [session, setSession] = useState<Session | undefined>(
    () => JSON.parse(sessionStorage.getItem(STORED) ?? 'null') ?? undefined,
  )
  const keep = (next: Session | undefined) => {
    if (next) sessionStorage.setItem(STORED, JSON.stringify(next))
    else sessionStorage.removeItem(STORED)
    setSession(next)
  }
  return session ? (
    <SignedIn key={session.authToken} session={session} onLeave={() => keep(undefined)} />
  ) : (
    <SignIn onSession={keep} />
  )
}

function SignIn({ onSession }: { onSession: (session: Session) => void }) {
  const [problem, setProblem] = useState('')
  return (
    <main className="sign-in">
      <h1>Loquat</h1>
      <p>Choose a user to sign in as</p>
      {['amira', 'ben', 'cleo'].map((uid) => (
        <button
          key={uid}
          type="button"
          onClick={() => signIn(uid).then(onSession, (error: Error) => setProblem(error.message))}
        >
          {uid[0]?.toUpperCase() + uid.slice(1)}
        </button>
      ))}
      {problem && <p role="alert">{problem}</p>}
    </main>
  )
}

function SignedIn({ session, onLeave }: { session: Session; onLeave: () => void }) {
  const [client] = useState(() => new LoquatClient({ ...session, baseUrl: location.origin }))
  useEffect(() => {
    client.start()
    return () => client.stop()
  }, [client])
  return <Chat client={client} onLeave={onLeave} />
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )

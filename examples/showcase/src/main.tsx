import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { go } from './route.ts'
import { type Session, storedSession, storeSession } from './session.ts'
import { Showcase } from './showcase.tsx'
import { SignIn } from './sign-in.tsx'
import './style.css'

function App() {
  const [session, setSession] = useState(storedSession)
  const change = (next: Session | undefined) => {
    storeSession(next)
    // What the last person had open isn't the next one's.
    go({}, true)
    setSession(next)
  }
  return session ? (
    <Showcase key={session.authToken} session={session} onSession={change} />
  ) : (
    <SignIn onSession={change} />
  )
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )

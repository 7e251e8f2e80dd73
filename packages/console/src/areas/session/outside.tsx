import { useLocation } from '@tanstack/react-router'
import { SignIn } from './sign-in.tsx'
import { SignUp } from './sign-up.tsx'

/** For whoever is not signed in, at whatever address: signing in leads there. */
export const Outside = () => (useLocation().pathname === '/sign-up' ? <SignUp /> : <SignIn />)

import { useLocation } from '@tanstack/react-router'
import { SignIn } from './sign-in.tsx'
import { SignUp } from './sign-up.tsx'

/** Replaces every page until the operator signs in, then the page at the address appears. */
export const SignedOut = () => (useLocation().pathname === '/sign-up' ? <SignUp /> : <SignIn />)

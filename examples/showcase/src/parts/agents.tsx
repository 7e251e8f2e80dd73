import { useFrontendActions } from '@loquat/react'

/** What agents may do in this page, and nothing else. The model reads what a function returns. */
export function AgentActions({ onTheme }: AgentActionsProps) {
  useFrontendActions({
    setTheme({ theme }) {
      if (theme !== 'light' && theme !== 'dark') throw new Error('The theme is light or dark.')
      onTheme(theme)
      return `The theme is ${theme} now.`
    },
  })
  return null
}

interface AgentActionsProps {
  onTheme: (theme: 'light' | 'dark') => void
}

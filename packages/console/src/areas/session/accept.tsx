import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Page, Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'

/** Accepts an invitation for an operator who already has an account. */
export function Accept() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { invitation = '' } = useSearch({ from: '/sign-up' })
  const accept = useMutation({
    mutationFn: () => manage.invitations.accept({ invitation }),
    onSuccess: async ({ appId, role }) => {
      await queries.invalidateQueries({ queryKey: ['apps'] })
      await navigate({ to: '/apps/$appId', params: { appId } })
      toast(`You joined this app's team as ${role}`)
    },
  })
  return (
    <Page title="Invitation">
      <Panel>
        {invitation ? (
          <Form mutation={accept} submit="Accept invitation">
            <p>You've been invited to join the team of an app.</p>
          </Form>
        ) : (
          <p>You're already signed in.</p>
        )}
      </Panel>
    </Page>
  )
}

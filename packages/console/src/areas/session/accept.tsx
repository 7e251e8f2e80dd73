import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Page, Panel } from '../../shared/page.tsx'
import { toast } from '../../shared/toasts.tsx'

/** An invitation that somebody opens who has an account already. */
export function Accept() {
  const queries = useQueryClient()
  const navigate = useNavigate()
  const { invitation = '' } = useSearch({ from: '/sign-up' })
  const accept = useMutation({
    mutationFn: () => manage.invitations.accept({ invitation }),
    onSuccess: async ({ appId, role }) => {
      await queries.invalidateQueries({ queryKey: ['apps'] })
      await navigate({ to: '/apps/$appId', params: { appId } })
      toast(`You are ${role} of this app now`)
    },
  })
  return (
    <Page title="Invitation">
      <Panel>
        {invitation ? (
          <Form sends={accept} submit="Accept">
            <p>You were invited to the team of an app.</p>
          </Form>
        ) : (
          <p>You are signed in already.</p>
        )}
      </Panel>
    </Page>
  )
}

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Copyable, CopyButton } from '../../shared/copyable.tsx'
import { Dialog, ShownOnce } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Status } from '../../shared/status.tsx'
import { withoutSpaces } from '../../shared/texts.ts'
import { toast } from '../../shared/toasts.tsx'
import { usePassword } from './password.tsx'

const Qr = lazy(async () => ({ default: (await import('./qr.tsx')).Qr }))

/** Turns two-factor authentication on and off, and creates recovery codes. */
export function Totp({ on }: { on: boolean }) {
  // The button that opens this dialog disappears once two-factor authentication is on, but the dialog must keep showing
  // the recovery codes. So the dialog isn't tied to the button.
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Panel
      title="Two-factor authentication"
      about="Protect your account with a one-time code from an authenticator app when you sign in."
    >
      <div className="row">
        {on ? <Status tone="good">On</Status> : <Status>Off</Status>}
        {on ? (
          <>
            <Dialog title="Create new recovery codes" trigger={<Button>New recovery codes</Button>}>
              {(close) => <Renew onDone={close} />}
            </Dialog>
            <Dialog
              title="Turn off two-factor authentication"
              trigger={<Button look="danger">Turn off</Button>}
            >
              {(close) => <TurnOff onDone={close} />}
            </Dialog>
          </>
        ) : (
          <Button look="main" onPress={() => setOpen(true)}>
            Turn on
          </Button>
        )}
        <Dialog title="Turn on two-factor authentication" isOpen={isOpen} onClose={close}>
          <TurnOn onDone={close} />
        </Dialog>
      </div>
    </Panel>
  )
}

function TurnOn({ onDone }: { onDone: () => void }) {
  const { password, field } = usePassword()
  const start = useMutation({ mutationFn: () => manage.totp.start({ password }) })
  if (start.data) return <Scan {...start.data} onDone={onDone} />
  return (
    <Form mutation={start} submit="Continue">
      {field}
    </Form>
  )
}

function Scan({ secret, url, onDone }: { secret: string; url: string; onDone: () => void }) {
  const queries = useQueryClient()
  const [code, setCode] = useState('')
  const confirm = useMutation({
    mutationFn: () => manage.totp.confirm({ code: withoutSpaces(code) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['session'] })
      await queries.invalidateQueries({ queryKey: ['sessions'] })
    },
  })
  if (confirm.data) return <Codes codes={confirm.data.recoveryCodes} onDone={onDone} />
  return (
    <Form mutation={confirm} submit="Turn on">
      <p>
        Scan this QR code with your authenticator app, or enter the secret there. Then enter the
        code that the app shows.
      </p>
      <Suspense fallback={<Skeleton lines={3} />}>
        <Qr text={url} label="QR code for your authenticator app" />
      </Suspense>
      <Copyable label="Secret" value={secret} />
      <Field
        label="One-time code"
        autoComplete="one-time-code"
        inputMode="numeric"
        value={code}
        onChange={setCode}
        autoFocus
      />
    </Form>
  )
}

const Codes = ({ codes, onDone }: { codes: string[]; onDone: () => void }) => (
  <ShownOnce
    onDone={onDone}
    beside={<CopyButton label="recovery codes" value={codes.join('\n')} />}
  >
    <p>
      Save these recovery codes somewhere safe. If you lose your device, you can use each code once
      instead of a one-time code. You won't be able to see them again.
    </p>
    <ul className="codes">
      {codes.map((code) => (
        <li key={code}>
          <code>{code}</code>
        </li>
      ))}
    </ul>
  </ShownOnce>
)

function Renew({ onDone }: { onDone: () => void }) {
  const { password, field } = usePassword()
  const renew = useMutation({ mutationFn: () => manage.totp.renewCodes({ password }) })
  if (renew.data) return <Codes codes={renew.data.recoveryCodes} onDone={onDone} />
  return (
    <Form mutation={renew} submit="Create new codes">
      <p>Your current recovery codes stop working.</p>
      {field}
    </Form>
  )
}

function TurnOff({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const { password, field } = usePassword()
  const off = useMutation({
    mutationFn: () => manage.totp.delete({ password }),
    onSuccess: async () => {
      onDone()
      toast('Two-factor authentication is off')
      await queries.invalidateQueries({ queryKey: ['session'] })
    },
  })
  return (
    <Form mutation={off} submit="Turn off" look="danger main">
      {field}
    </Form>
  )
}

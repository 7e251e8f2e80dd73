import { useMutation, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Copyable, CopyButton } from '../../shared/copyable.tsx'
import { Dialog, ShownOnce } from '../../shared/dialog.tsx'
import { Field, Form } from '../../shared/form.tsx'
import { manage } from '../../shared/manage.ts'
import { Panel, Skeleton } from '../../shared/page.tsx'
import { Status } from '../../shared/status.tsx'
import { bare } from '../../shared/texts.ts'
import { toast } from '../../shared/toasts.tsx'
import { usePassword } from './password.tsx'

const Qr = lazy(async () => ({ default: (await import('./qr.tsx')).Qr }))

/** A second step when signing in: on, off, and the codes for when the device is lost. */
export function Totp({ on }: { on: boolean }) {
  // Beside the button, which goes as soon as they are on: the codes stay in sight.
  const [isOpen, setOpen] = useState(false)
  const close = () => setOpen(false)
  return (
    <Panel
      title="One-time codes"
      about="Signing in then asks for a code of your phone beside the password."
    >
      <div className="row">
        {on ? <Status tone="good">On</Status> : <Status>Off</Status>}
        {on ? (
          <>
            <Dialog title="New recovery codes" trigger={<Button>New recovery codes</Button>}>
              {(close) => <Renew onDone={close} />}
            </Dialog>
            <Dialog title="Switch off" trigger={<Button look="danger">Switch off</Button>}>
              {(close) => <SwitchOff onDone={close} />}
            </Dialog>
          </>
        ) : (
          <Button look="main" onPress={() => setOpen(true)}>
            Switch on
          </Button>
        )}
        <Dialog title="Switch on" isOpen={isOpen} onClose={close}>
          <SwitchOn onDone={close} />
        </Dialog>
      </div>
    </Panel>
  )
}

function SwitchOn({ onDone }: { onDone: () => void }) {
  const { password, field } = usePassword()
  const start = useMutation({ mutationFn: () => manage.totp.start({ password }) })
  if (start.data) return <Scan {...start.data} onDone={onDone} />
  return (
    <Form sends={start} submit="Continue">
      {field}
    </Form>
  )
}

function Scan({ secret, url, onDone }: { secret: string; url: string; onDone: () => void }) {
  const queries = useQueryClient()
  const [code, setCode] = useState('')
  const confirm = useMutation({
    mutationFn: () => manage.totp.confirm({ code: bare(code) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['session'] })
      await queries.invalidateQueries({ queryKey: ['sessions'] })
    },
  })
  if (confirm.data) return <Codes codes={confirm.data.recoveryCodes} onDone={onDone} />
  return (
    <Form sends={confirm} submit="Switch on">
      <p>
        Scan this with an authenticator app, or type the secret. Then give a code that it shows.
      </p>
      <Suspense fallback={<Skeleton lines={3} />}>
        <Qr text={url} label="Picture for an authenticator app" />
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
      Keep these recovery codes somewhere safe. Each works once in place of a one-time code; they
      are shown now and never again.
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
    <Form sends={renew} submit="Make new codes">
      <p>Those before work no more.</p>
      {field}
    </Form>
  )
}

function SwitchOff({ onDone }: { onDone: () => void }) {
  const queries = useQueryClient()
  const { password, field } = usePassword()
  const off = useMutation({
    mutationFn: () => manage.totp.delete({ password }),
    onSuccess: async () => {
      onDone()
      toast('One-time codes are off')
      await queries.invalidateQueries({ queryKey: ['session'] })
    },
  })
  return (
    <Form sends={off} submit="Switch off" look="danger main">
      {field}
    </Form>
  )
}

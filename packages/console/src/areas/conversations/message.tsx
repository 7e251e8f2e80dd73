import type { Message } from '@loquat/sdk'
import { useState } from 'react'
import { Avatar } from '../../shared/avatar.tsx'
import { Button, IconButton } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Form } from '../../shared/form.tsx'
import { Json } from '../../shared/json.tsx'
import { Menu, MenuItem } from '../../shared/menu.tsx'
import { Status, Tags } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { ExplainNotification } from '../notifications/explain.tsx'
import { Body } from './body.tsx'
import { actionOf, reactionsOf, senderOf, summaryOf } from './content.ts'
import { useDelete } from './delete.ts'
import { PartyLink } from './party-link.tsx'
import { Receipts } from './receipts.tsx'

interface ItemProps {
  appId: string
  message: Message
  /** Whether the previous message has the same sender. */
  follows: boolean
  /** Opens the thread. Absent inside a thread. */
  onThread?: () => void
  onChanged: () => void
}

/** A message with its reactions, receipts and actions. */
export function MessageItem(props: ItemProps) {
  const { appId, message, follows, onThread } = props
  if (message.category === 'action') {
    return (
      <li className="message action">
        <span dir="auto">{actionOf(message)}</span> · <Time at={message.sentAt} />
        <MessageMenu {...props} />
      </li>
    )
  }
  const sender = senderOf(message)
  const reactions = reactionsOf(message)
  const { replyCount = 0 } = message
  return (
    <li className={follows ? 'message follows' : 'message'}>
      {follows ? <span /> : <Avatar id={sender.id} name={sender.name} url={sender.picture} />}
      <div className="message-main">
        {!follows && (
          <p className="message-head">
            <strong>
              <PartyLink appId={appId} party={sender} />
            </strong>
            <Time at={message.sentAt} />
          </p>
        )}
        <Body message={message} />
        <p className="message-marks">
          {reactions.map(({ reaction, count }) => (
            <span key={reaction} className="reaction">
              {reaction} {count}
            </span>
          ))}
          {replyCount > 0 && onThread && (
            <Button look="quiet" icon="reply" onPress={onThread}>
              {replyCount === 1 ? '1 reply' : `${replyCount} replies`}
            </Button>
          )}
          {message.pinnedAt !== undefined && <Status tone="info">Pinned</Status>}
          {message.editedAt !== undefined && !message.deletedAt && (
            <small className="soft">
              Edited <Time at={message.editedAt} />
            </small>
          )}
          <Tags tags={message.tags} />
          {message.receiverType === 'user' && <small className="soft">{markOf(message)}</small>}
        </p>
      </div>
      <MessageMenu {...props} />
    </li>
  )
}

function markOf({ readAt, deliveredAt, deletedAt }: Message) {
  if (deletedAt) return ''
  if (readAt) return 'Read'
  return deliveredAt ? 'Delivered' : 'Sent'
}

type OpenDialog = 'json' | 'receipts' | 'notified' | 'delete' | undefined

function MessageMenu({ appId, message, onThread, onChanged }: ItemProps) {
  const [shown, setShown] = useState<OpenDialog>()
  const close = () => setShown(undefined)
  const action = message.category === 'action'
  const items = [
    <MenuItem key="json" text="View JSON" icon="braces" onAction={() => setShown('json')} />,
    ...(action || !onThread || message.parentId
      ? []
      : [<MenuItem key="thread" text="Open thread" icon="reply" onAction={onThread} />]),
    ...(action
      ? []
      : [
          <MenuItem
            key="receipts"
            text="View receipts"
            icon="check"
            onAction={() => setShown('receipts')}
          />,
          <MenuItem
            key="notified"
            text="Explain notification"
            icon="bell"
            onAction={() => setShown('notified')}
          />,
        ]),
    ...(action || message.deletedAt
      ? []
      : [
          <MenuItem
            key="delete"
            danger
            text="Delete"
            icon="trash"
            onAction={() => setShown('delete')}
          />,
        ]),
  ]
  return (
    <span className="message-menu">
      <Menu
        label="Message actions"
        trigger={<IconButton icon="more" label={`More actions for message ${message.id}`} />}
      >
        {items}
      </Menu>
      <Dialog wide title={`Message ${message.id}`} isOpen={shown === 'json'} onClose={close}>
        <Json value={message} label={`Message ${message.id}`} />
      </Dialog>
      <Dialog title="Delivery and read receipts" isOpen={shown === 'receipts'} onClose={close}>
        <Receipts appId={appId} id={message.id} />
      </Dialog>
      <Dialog title="Who was notified?" isOpen={shown === 'notified'} onClose={close}>
        <ExplainNotification
          appId={appId}
          messageId={message.id}
          uid={message.receiverType === 'user' ? message.receiver : ''}
        />
      </Dialog>
      <Dialog title="Delete message" isOpen={shown === 'delete'} onClose={close}>
        <DeleteMessage appId={appId} message={message} onDone={close} onChanged={onChanged} />
      </Dialog>
    </span>
  )
}

function DeleteMessage(props: {
  appId: string
  message: Message
  onDone: () => void
  onChanged: () => void
}) {
  const { message, onDone } = props
  const remove = useDelete(props)
  return (
    <Form
      mutation={remove}
      submit="Delete"
      look="danger main"
      beside={<Button onPress={onDone}>Cancel</Button>}
    >
      <p>
        The content is deleted for everyone. A note that a message was deleted stays in the
        conversation.
      </p>
      <blockquote className="quoted" dir="auto">
        {summaryOf(message)}
      </blockquote>
    </Form>
  )
}

/**
 * Shows notifications while the chat is in the background. A push is JSON: a notification with `title`, `body` and
 * `tag`, or `{ "action": "close", "tags": […] }` if messages were deleted or read elsewhere. A notification
 * replaces the one with the same tag.
 */
const worker = /** @type {any} */ (self)

worker.addEventListener('install', () => worker.skipWaiting())
worker.addEventListener('activate', (event) => event.waitUntil(worker.clients.claim()))
worker.addEventListener('push', (event) => event.waitUntil(onPush(event.data?.json() ?? {})))
worker.addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data))
})

async function onPush({ action, tag, tags, title, body, icon, senderAvatar, silent, ...details }) {
  if (action === 'close') return close(tags ?? [tag])
  if (await isVisible()) return
  await worker.registration.showNotification(title ?? 'New message', {
    body,
    tag,
    icon: icon ?? senderAvatar,
    silent: silent ?? false,
    data: details,
  })
}

async function close(tags) {
  for (const shown of await worker.registration.getNotifications())
    if (tags.includes(shown.tag)) shown.close()
}

const windows = () => worker.clients.matchAll({ type: 'window', includeUncontrolled: true })

/** A chat that the user looks at shows the message itself. */
const isVisible = async () => (await windows()).some(({ focused }) => focused)

/** Opens the conversation in a window that there is, or in a new one. */
async function open({ receiverType, receiver, sender, receiverName, senderName } = {}) {
  const inGroup = receiverType === 'group'
  const id = inGroup ? receiver : sender
  const name = inGroup ? receiverName : senderName
  const [known] = await windows()
  const shown = known ? await known.focus() : await worker.clients.openWindow('/')
  shown?.postMessage({ open: { target: { type: inGroup ? 'group' : 'user', id }, name } })
}

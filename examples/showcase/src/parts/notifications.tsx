import { Preferences } from '@loquat/react'

/** The service worker in public/ shows the notifications of this browser. */
export const WORKER = '/push-worker.js'

/** The server keeps the choices, for all devices of the user. */
export const Notifications = ({ onClose }: { onClose: () => void }) => (
  <Preferences worker={WORKER} onClose={onClose} />
)

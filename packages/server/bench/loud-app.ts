/** The sends of another app, in a separate process: reports how many were answered in time. */
import { type OpenLoop, openSender, sendAll } from './open-loop.ts'

process.once('message', async (load: OpenLoop) => {
  const sender = await openSender(load)
  await sendAll(sender, load)
  process.send?.(sender.answers.size)
})

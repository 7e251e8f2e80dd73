/** The agent of the example: its model, a tool that needs approval, an action of the page, and what it knows. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Loquat, LoquatError } from '@loquat/sdk'

const PROVIDER = 'example'
const TOOL = 'book_room'
const ACTION = 'setTheme'

const INSTRUCTION = `You help the members of a small company. Answer briefly, in Markdown.
What you know of the company is in its handbook.`

const HANDBOOK = {
  title: 'Handbook',
  text: `# Office

The office opens at 8:00 and closes at 19:00, from Monday to Friday.

# Holidays

Everybody has 28 days of holidays a year. Tell your team two weeks before.

# Expenses

Send expenses to Daniel by the end of the month, with a photo of the bill.`,
}

const WELCOME =
  'Hello! I am an agent. In this example I follow a script. Ask me when the office opens, to book a room on Monday, or to make it dark.'

export interface AgentModel {
  url: string
  model: string
  key?: string | undefined
}

/** Does nothing if it exists already. */
export const ignoreKnown = (error: unknown): undefined => {
  if (!(error instanceof LoquatError && error.code.endsWith('_ALREADY_EXISTS'))) throw error
}

/** Adds the agent. A second start finds it, but the addresses may be others. Returns the UID of a new one. */
export async function addAgent(
  loquat: Loquat,
  { url, model, key }: AgentModel,
  own: string,
): Promise<string | undefined> {
  const endpoint = `${own}/rooms`
  const day = { key: 'day', type: 'string' as const, required: true }
  const provider = { name: 'Example', url, ...(key && { key }) }
  await loquat.modelProviders.create({ id: PROVIDER, ...provider }).catch(ignoreKnown)
  await loquat.modelProviders.update(PROVIDER, provider)
  const tool = {
    ...{ name: 'Book a room', description: 'Books a meeting room.', endpoint, parameters: [day] },
    ...{ method: 'POST' as const, enableBasicAuth: false, requiresApproval: true },
  }
  await loquat.apiTools.create({ slug: TOOL, ...tool }).catch(ignoreKnown)
  await loquat.apiTools.update(TOOL, tool)
  const theme = { key: 'theme', type: 'string' as const, description: 'light or dark' }
  const action = { name: 'Change the theme', description: 'Makes the page light or dark.' }
  await loquat.frontendActions
    .create({ triggerFunction: ACTION, ...action, parameters: [theme] })
    .catch(ignoreKnown)
  const { data } = await loquat.agents.list()
  const known = data.find(({ providerId }) => providerId === PROVIDER)
  if (known && known.model !== model) await loquat.agents.update(known.uid, { model })
  if (known) return undefined
  const { uniqueId } = await loquat.knowledge.createText(HANDBOOK)
  const { uid } = await loquat.agents.create({
    ...{ name: 'Helper', instruction: INSTRUCTION, providerId: PROVIDER, model },
    ...{ apiTools: [TOOL], frontendActions: [ACTION], answersMentions: true },
  })
  await loquat.knowledge.attach(uid, 'text', { uniqueIds: [uniqueId] })
  // Until then it wouldn't know the handbook.
  const asked = { uniqueId: [uniqueId] }
  while ((await loquat.knowledge.poll(asked))[uniqueId] === 'indexing') await sleep(100)
  return uid
}

/** So that everybody finds the agent in the list. */
export async function welcome(loquat: Loquat, agent: string, uids: string[]): Promise<void> {
  for (const receiver of uids) {
    const data = { text: WELCOME }
    await loquat.onBehalfOf(agent).messages.send({ receiver, receiverType: 'user', data })
    await loquat.onBehalfOf(receiver).conversations.markUserRead(agent, {})
  }
}

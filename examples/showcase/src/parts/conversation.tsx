import {
  Channel,
  ChannelHeader,
  Composer,
  ConnectionBar,
  HandoverLine,
  MessageList,
  TypingLine,
} from '@loquat/react'
import { CallButtons } from '@loquat/react/calls'
import type { Target } from '@loquat/sdk/client'
import type { ReactNode } from 'react'

/** The parts of a channel know which conversation they are in. Leave some out, or add your own. */
export const Conversation = ({ target, jumpTo, onThread, onBack, tools }: ConversationProps) => (
  <Channel target={target} jumpTo={jumpTo} onThread={onThread}>
    <ChannelHeader onBack={onBack}>
      <CallButtons />
      {tools}
    </ChannelHeader>
    <ConnectionBar />
    <MessageList />
    <TypingLine />
    <HandoverLine />
    <Composer />
  </Channel>
)

interface ConversationProps {
  target: Target
  /** A message that was found. */
  jumpTo: { id: string } | undefined
  onThread: (messageId: string) => void
  onBack: (() => void) | undefined
  /** Buttons in the header. */
  tools: ReactNode
}

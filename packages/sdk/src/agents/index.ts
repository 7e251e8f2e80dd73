export {
  type AgentEvent,
  Answers,
  type CalledTool,
  type RunningAnswer,
  type WaitingCall,
} from './answers.ts'
export { Handovers, type OpenHandover } from './handovers.ts'

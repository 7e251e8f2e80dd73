export {
  type AgentEvent,
  Answers,
  type CalledTool,
  type RunningAnswer,
  type WaitingCall,
} from './answers.ts'

export { type AgentEvent, Answers, type RunningAnswer, type WaitingCall } from './answers.ts'
export { Handovers, type OpenHandover } from './handovers.ts'
export { type CalledTool, calledTools } from './steps.ts'

import type { ErrorDefinition } from './definition.ts'

export const agentErrors = {
  ERR_MODEL_PROVIDER_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no provider "{id}".',
    when: 'The app has no provider of models with this id.',
  },
  ERR_MODEL_PROVIDER_IN_USE: {
    status: 400,
    retry: false,
    message: 'The provider "{id}" is used for {use}.',
    when: 'The settings of checks refer to the provider of models.',
  },
  ERR_AGENT_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no agent "{uid}".',
    when: 'The app has no agent with this id, or none of this kind.',
  },
  ERR_AGENT_REVISION_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'The agent "{uid}" has no revision {no}.',
    when: 'The agent never had so many revisions, or has had 200 others since.',
  },
  ERR_AGENT_RUN_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no run "{runId}".',
    when: 'No agent has such a run, it is older than 30 days, or another user asked.',
  },
  ERR_AGENT_RUN_OVER: {
    status: 409,
    retry: false,
    message: 'The run "{runId}" is already {state}.',
    when: 'A run that is over was cancelled.',
  },
  ERR_AGENT_RUN_NOT_OVER: {
    status: 409,
    retry: false,
    message: 'The run "{runId}" is still {state}.',
    when: 'Only a run that is over can be replayed.',
  },
  ERR_AGENT_REPLAY_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'The run has no replay "{replayId}".',
    when: 'There never was such a replay, or the run has had 50 others since.',
  },
  ERR_AGENT_RUN_NOT_FAILED: {
    status: 409,
    retry: false,
    message: 'The run "{runId}" is {state}.',
    when: 'Only failed and cancelled runs can be retried.',
  },
  ERR_AGENT_RUN_NOT_ANSWERED: {
    status: 409,
    retry: false,
    message: 'The run "{runId}" has no answer that you can rate.',
    when: 'The run has failed or is under way, moderation holds the answer, or it was deleted.',
  },
  ERR_AGENT_RATING_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'You have not rated the answer of the run "{runId}".',
    when: 'The user has no rating for this answer, or the run is older than 30 days.',
  },
  ERR_AGENT_HANDOVER_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no handover "{handoverId}".',
    when: 'No conversation was handed over under this id, it was handed back over 30 days ago, or it belongs to another user.',
  },
  ERR_AGENT_HANDOVER_TAKEN: {
    status: 409,
    retry: false,
    message: 'The handover "{handoverId}" is taken.',
    when: "Another operator was faster and answers now. To take it over, name that person in `from`. A user can't take the conversation back then.",
  },
  ERR_AGENT_HANDOVER_NOT_TAKEN: {
    status: 409,
    retry: false,
    message: 'Nobody has taken the handover "{handoverId}".',
    when: 'Somebody wants to answer before they have taken the conversation.',
  },
  ERR_AGENT_HANDOVER_CLOSED: {
    status: 409,
    retry: false,
    message: 'The handover "{handoverId}" is closed.',
    when: 'The conversation was handed back to its agent.',
  },
  ERR_AGENT_RUN_NOT_WAITING: {
    status: 409,
    retry: false,
    message: 'The run "{runId}" does not wait for this. It is {state}.',
    when: 'Another device was faster, the run is over, or it waits for something else.',
  },
  ERR_AGENT_TOO_MANY_RUNS: {
    status: 409,
    retry: false,
    message:
      'This user already has {limit} questions that wait for an answer. Wait for one of them, or cancel one.',
    when: 'The user already has the maximum number of queued, running or waiting runs.',
  },
  ERR_KB_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no source "{id}".',
    when: 'The knowledge base of the app has no such source or chunk, or the message does not cite it.',
  },
  ERR_TOOL_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no tool "{id}".',
    when: 'The app has no tool, action or MCP server with this name.',
  },
  ERR_TOOL_ALREADY_ADDED: {
    status: 409,
    retry: false,
    message: 'The agent has "{id}" already.',
    when: 'The agent has this tool or MCP server already.',
  },
} as const satisfies Record<string, ErrorDefinition>

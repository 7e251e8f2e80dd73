import type { ErrorDefinition } from './definition.ts'

export const messageErrors = {
  ERR_EMPTY_RECEIVER: {
    status: 400,
    retry: false,
    message: 'The message has no receiver. Set receiver or multipleReceivers.',
    when: 'Both `receiver` and `multipleReceivers` are missing.',
  },
  ERR_INVALID_RECEIVER_TYPE: {
    status: 400,
    retry: false,
    message: 'receiverType must be "user" or "group".',
    when: '`receiverType` is missing or not one of the allowed values.',
  },
  ERR_MESSAGE_ID_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no message with id {id}.',
    when: "The message doesn't exist, was permanently deleted, or is in the part of the conversation that the user cleared.",
  },
  ERR_INVALID_MESSAGE_DATA: {
    status: 400,
    retry: false,
    message: "data must be an object that fits the message's category and type.",
    when: '`data` is missing or malformed.',
  },
  ERR_EMPTY_MESSAGE_TEXT: {
    status: 400,
    retry: false,
    message: 'A text message needs data.text.',
    when: '`data.text` of a text message is missing or blank.',
  },
  ERR_INVALID_MESSAGE_TEXT: {
    status: 400,
    retry: false,
    message: 'data.text must be a string.',
    when: '`data.text` is not a string.',
  },
  ERR_EMPTY_MESSAGE_CATEGORY: {
    status: 400,
    retry: false,
    message: 'category must not be empty. Set it, or leave it out.',
    when: '`category` is an empty string.',
  },
  ERR_INVALID_MESSAGE_CATEGORY: {
    status: 400,
    retry: false,
    message: 'category must be "message", "custom" or "interactive".',
    when: '`category` is not one of the allowed values.',
  },
  ERR_EMPTY_MESSAGE_TYPE: {
    status: 400,
    retry: false,
    message: 'type must not be empty.',
    when: '`type` is an empty string, or is missing for a custom message.',
  },
  ERR_INVALID_MESSAGE_TYPE: {
    status: 400,
    retry: false,
    message: 'This category has no such type.',
    when: "`type` doesn't exist in the message's category. `devMessage` lists the types that do.",
  },
  ERR_EMPTY_MESSAGE_FILE: {
    status: 400,
    retry: false,
    message: 'A media message needs data.attachments.',
    when: '`data.attachments` of a media message is missing or empty.',
  },
  ERR_INVALID_MEDIA_MESSAGE: {
    status: 400,
    retry: false,
    message: 'Each attachment needs a url, and its name, mimeType and extension must be strings.',
    when: '`data.attachments` is malformed.',
  },
  ERR_EMPTY_CUSTOM_DATA: {
    status: 400,
    retry: false,
    message: 'A custom message needs data.customData.',
    when: '`data.customData` of a custom message is missing.',
  },
  ERR_INVALID_CUSTOM_DATA: {
    status: 400,
    retry: false,
    message: 'data.customData must be an object.',
    when: '`data.customData` is not an object.',
  },
  ERR_INVALID_METADATA: {
    status: 400,
    retry: false,
    message: 'data.metadata must be an object.',
    when: '`data.metadata` is not an object.',
  },
  ERR_MESSAGE_NOT_A_SENDER: {
    status: 403,
    retry: false,
    message: "Only the message's sender can do this.",
    when: "The acting user isn't the sender, nor an admin or moderator of the group.",
  },
  ERR_MESSAGE_NO_ACCESS: {
    status: 403,
    retry: false,
    message: "You don't have access to this message.",
    when: "The acting user isn't part of the 1:1 conversation or a member of the group.",
  },
  ERR_MESSAGE_ACTION_NOT_ALLOWED: {
    status: 403,
    retry: false,
    message: "This message doesn't allow this action.",
    when: "The message is an action message, is already deleted, or doesn't accept reactions. `devMessage` says which.",
  },
  ERR_PINNED_MESSAGES_LIMIT_EXCEEDED: {
    status: 400,
    retry: false,
    message: 'A conversation can have at most {limit} pinned messages. Unpin one first.',
    when: 'The conversation already has the maximum number of pinned messages.',
  },
} as const satisfies Record<string, ErrorDefinition>

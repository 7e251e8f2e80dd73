/** What is in the demo app: a small company that is about to release its app. */
import type { NewGroup } from '../areas/groups/schema.ts'
import type { NewUser } from '../areas/users/schema.ts'

export const PEOPLE: NewUser[] = [
  { uid: 'amira', name: 'Amira Haddad', statusMessage: 'Releasing on Thursday', tags: ['product'] },
  { uid: 'ben', name: 'Ben Okafor', tags: ['engineering'] },
  { uid: 'cleo', name: 'Cleo Laurent', statusMessage: 'Back at 2 pm', tags: ['design'] },
  { uid: 'daniel', name: 'Daniel Weiss', tags: ['support'] },
  { uid: 'elif', name: 'Elif Yılmaz', tags: ['engineering'] },
]

export const GROUPS: NewGroup[] = [
  {
    guid: 'release',
    name: 'Release 2.4',
    owner: 'amira',
    description: 'Everything that has to happen before Thursday.',
    members: { participants: ['ben', 'cleo', 'daniel', 'elif'] },
  },
  {
    guid: 'support',
    name: 'Support',
    type: 'private',
    owner: 'daniel',
    description: 'Questions from customers.',
    members: { participants: ['amira', 'ben', 'elif'] },
  },
  {
    guid: 'lunch',
    name: 'Lunch',
    owner: 'cleo',
    members: { participants: ['amira', 'ben', 'daniel', 'elif'] },
  },
]

/** A message, with its reactions and the replies in its thread. */
export interface Line {
  from: string
  text: string
  reactions?: Record<string, string[]>
  replies?: Line[]
}

export interface Talk {
  /** A group, or two people. */
  in: string | [string, string]
  read: Line[]
  /** Messages that nobody but their senders has read. */
  unread?: Line[]
}

/** The conversation at the end is the newest. */
export const TALKS: Talk[] = [
  {
    in: 'lunch',
    read: [
      {
        from: 'cleo',
        text: 'The noodle place on the corner is open again. Anyone at half past twelve?',
        reactions: { '🍜': ['amira', 'elif', 'ben'] },
      },
      { from: 'ben', text: 'Count me in.' },
      {
        from: 'daniel',
        text: 'I have a call until one. Could you bring me something?',
        replies: [
          { from: 'cleo', text: 'Sure. The usual?' },
          { from: 'daniel', text: 'Yes please, extra spicy.', reactions: { '🌶️': ['cleo'] } },
        ],
      },
    ],
  },
  {
    in: ['cleo', 'elif'],
    read: [
      { from: 'cleo', text: 'The new icons are in the shared folder, in light and dark.' },
      { from: 'elif', text: 'They look great. I will add them this afternoon.' },
    ],
    unread: [{ from: 'cleo', text: 'One more thing: please use the outlined bell.' }],
  },
  {
    in: 'support',
    read: [
      {
        from: 'daniel',
        text: 'A customer says that notifications arrive twice on their tablet.',
        reactions: { '👀': ['ben'] },
        replies: [
          { from: 'ben', text: 'Do they use the tablet and the phone with the same account?' },
          { from: 'daniel', text: 'Yes, since last week.' },
          {
            from: 'elif',
            text: 'I can reproduce it. The fix is in review.',
            reactions: { '🎉': ['daniel', 'ben'] },
          },
        ],
      },
      { from: 'daniel', text: 'I told the customer that a fix is coming in 2.4.' },
    ],
  },
  {
    in: ['amira', 'ben'],
    read: [
      { from: 'amira', text: 'How does the release look?' },
      { from: 'ben', text: 'Good. Two tests left, and both are about old phones.' },
      { from: 'amira', text: 'Thank you!', reactions: { '🙏': ['ben'] } },
    ],
  },
  {
    in: 'release',
    read: [
      {
        from: 'amira',
        text: 'We release on Thursday at 10. What is still open?',
        replies: [
          { from: 'elif', text: 'The fix for double notifications. It is in review.' },
          { from: 'cleo', text: 'The screenshots for the store. You get them tomorrow.' },
          { from: 'ben', text: 'Two tests on old phones.' },
        ],
      },
      {
        from: 'ben',
        text: 'The release candidate is on the test server. Please try it with your own account.',
        reactions: { '👍': ['amira', 'cleo', 'elif'], '🚀': ['daniel'] },
      },
      { from: 'daniel', text: 'Signing in and sending photos work for me.' },
    ],
    unread: [
      { from: 'cleo', text: 'The screenshots are done.', reactions: { '🎉': ['elif'] } },
      {
        from: 'elif',
        text: '<@uid:amira> can you approve the release notes before 4 pm? Then we are ready.',
      },
    ],
  },
]

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
  /** How many minutes ago it was sent. If it isn't given, it is sent now. */
  ago?: number
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

/** In minutes. `hours(26, 4)` is four minutes after `hours(26)`. */
const hours = (count: number, minutes = 0) => count * 60 - minutes

/** The conversation at the end is the newest. */
export const TALKS: Talk[] = [
  {
    in: 'lunch',
    read: [
      {
        from: 'cleo',
        text: 'The noodle place on the corner is open again. Anyone at half past twelve?',
        ago: hours(50),
        reactions: { '🍜': ['amira', 'elif', 'ben'] },
      },
      { from: 'ben', text: 'Count me in.', ago: hours(50, 3) },
      {
        from: 'daniel',
        text: 'I have a call until one. Could you bring me something?',
        ago: hours(50, 9),
        replies: [
          { from: 'cleo', text: 'Sure. The usual?', ago: hours(50, 11) },
          {
            from: 'daniel',
            text: 'Yes please, extra spicy.',
            ago: hours(50, 12),
            reactions: { '🌶️': ['cleo'] },
          },
        ],
      },
    ],
  },
  {
    in: ['cleo', 'elif'],
    read: [
      {
        from: 'cleo',
        text: 'The new icons are in the shared folder, in light and dark.',
        ago: hours(5),
      },
      { from: 'elif', text: 'They look great. I will add them this afternoon.', ago: hours(5, 14) },
    ],
    unread: [{ from: 'cleo', text: 'One more thing: please use the outlined bell.' }],
  },
  {
    in: 'support',
    read: [
      {
        from: 'daniel',
        text: 'A customer says that notifications arrive twice on their tablet.',
        ago: hours(47),
        reactions: { '👀': ['ben'] },
        replies: [
          {
            from: 'ben',
            text: 'Do they use the tablet and the phone with the same account?',
            ago: hours(47, 6),
          },
          { from: 'daniel', text: 'Yes, since last week.', ago: hours(47, 22) },
          {
            from: 'elif',
            text: 'I can reproduce it. The fix is in review.',
            ago: hours(29),
            reactions: { '🎉': ['daniel', 'ben'] },
          },
        ],
      },
      {
        from: 'daniel',
        text: 'I told the customer that a fix is coming in 2.4.',
        ago: hours(28, 20),
      },
    ],
  },
  {
    in: ['amira', 'ben'],
    read: [
      { from: 'amira', text: 'How does the release look?', ago: hours(4) },
      {
        from: 'ben',
        text: 'Good. Two tests left, and both are about old phones.',
        ago: hours(4, 7),
      },
      { from: 'amira', text: 'Thank you!', ago: hours(4, 8), reactions: { '🙏': ['ben'] } },
    ],
  },
  {
    in: 'release',
    read: [
      {
        from: 'amira',
        text: 'We release on Thursday at 10. What is still open?',
        ago: hours(27),
        replies: [
          {
            from: 'elif',
            text: 'The fix for double notifications. It is in review.',
            ago: hours(27, 4),
          },
          {
            from: 'cleo',
            text: 'The screenshots for the store. You get them tomorrow.',
            ago: hours(27, 18),
          },
          { from: 'ben', text: 'Two tests on old phones.', ago: hours(26) },
        ],
      },
      {
        from: 'ben',
        text: 'The release candidate is on the test server. Please try it with your own account.',
        ago: hours(3),
        reactions: { '👍': ['amira', 'cleo', 'elif'], '🚀': ['daniel'] },
      },
      { from: 'daniel', text: 'Signing in and sending photos work for me.', ago: hours(2, 24) },
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

/** Words of permissions and rules, as people read them. */
const WORDS: Record<string, string> = {
  allow: 'Allow',
  deny: 'Deny',
  all: 'All users',
  friends: 'Friends only',
  user: 'Users',
  group: 'Groups',
  admin: 'Admin',
  moderator: 'Moderator',
  participant: 'Participant',
}

/** A word without a name of its own begins with a capital letter. */
export const wordFor = (word: string) =>
  WORDS[word] ?? `${word.charAt(0).toUpperCase()}${word.slice(1)}`

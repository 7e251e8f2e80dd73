import type { KnowledgePage, KnowledgeSource } from '@loquat/sdk'
import type { Tone } from '../../shared/status.tsx'

export const KINDS: Record<KnowledgeSource['sourceType'], string> = {
  text: 'Text',
  uploads: 'File',
  websites: 'Website',
}

const STATES: Record<KnowledgeSource['status'], { label: string; tone: Tone }> = {
  uploading: { label: 'Not uploaded', tone: 'warn' },
  indexing: { label: 'Indexing', tone: 'info' },
  indexed: { label: 'Ready', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
}

export const stateOf = ({ status, sourceType }: KnowledgeSource) =>
  status === 'indexing' && sourceType === 'websites'
    ? { label: 'Crawling', tone: 'info' as const }
    : STATES[status]

/** What went wrong, and what to do about it. */
const REASONS: Record<NonNullable<KnowledgeSource['reason']>, string> = {
  empty: 'There is no text in it. A scan needs to be turned into text first.',
  too_long: 'It is too long. Cut it into several files.',
  app_full: 'The app has as much knowledge as it can have. Delete what agents no longer need.',
  rejected: 'The check of the file refused it, or it was never uploaded. Upload it again.',
  unreadable: 'The file is broken, or takes too long to read.',
  encrypted: 'The file needs a password. Upload it without one.',
  robots: "The site's robots.txt doesn't allow Loquat to read it.",
  other_host: 'The site redirects to another host. Crawl that one instead.',
  unreachable: "The site doesn't answer, or shows nothing. Check the URL and crawl it again.",
}

export const reasonOf = ({ reason }: KnowledgeSource) => reason && REASONS[reason]

export const PAGE_STATES: Record<KnowledgePage['status'], { label: string; tone: Tone }> = {
  discovered: { label: 'Found', tone: 'plain' },
  processing: { label: 'Waiting', tone: 'info' },
  processed: { label: 'Ready', tone: 'good' },
  failed: { label: 'Failed', tone: 'bad' },
  skipped: { label: 'Skipped', tone: 'plain' },
}

const PAGE_REASONS: Record<NonNullable<KnowledgePage['reason']>, string> = {
  robots: "The site's robots.txt doesn't allow it.",
  other_host: 'It redirects to another host.',
  moved: 'It redirects to another page.',
  gone: 'The page no longer exists.',
  refused: "The site doesn't show it.",
  unreachable: "The site doesn't answer, or too slowly.",
  forbidden_target: 'Its host has a private address.',
  not_text: "It isn't a page with text.",
  too_large: 'It has more than 2 MB.',
  too_long: 'It has too much text.',
  unreadable: 'It is broken.',
  empty: 'It has no text.',
  noindex: 'It asks not to be found.',
  duplicate: 'Another page has the same text.',
  excluded: 'You have excluded it.',
  limit: 'The crawl took too long, or read too much.',
  app_full: 'The app has as much knowledge as it can have.',
}

export const pageReasonOf = ({ reason }: KnowledgePage) => reason && PAGE_REASONS[reason]

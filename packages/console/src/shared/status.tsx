import type { ReactNode } from 'react'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

/** A badge with a word and a colour. */
export const Status = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`status ${tone}`}>{children}</span>
)

export const Tags = ({ tags }: { tags: string[] | undefined }) => (
  <span className="tags">
    {tags?.map((tag) => (
      <Status key={tag}>{tag}</Status>
    ))}
  </span>
)

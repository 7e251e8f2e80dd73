import type { ReactNode } from 'react'

export type Tone = 'plain' | 'good' | 'warn' | 'bad' | 'info'

/** A badge with a word and a colour. */
export const Status = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`status ${tone}`}>{children}</span>
)

/** Nothing without tags: an empty element would leave a gap in front of what follows it. */
export const Tags = ({ tags = [] }: { tags: string[] | undefined }) =>
  tags.length > 0 && (
    <span className="tags">
      {tags.map((tag) => (
        <Status key={tag}>{tag}</Status>
      ))}
    </span>
  )

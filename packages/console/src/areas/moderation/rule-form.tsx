import type { ModerationRule, NewRuleCondition, NewRuleFilter } from '@loquat/sdk'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Check, Choice, Field, Form, TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { toast } from '../../shared/toasts.tsx'
import { NOUNS } from './lists.tsx'
import { Preview } from './preview.tsx'
import { Tester } from './tester.tsx'

/** A condition as the form edits it. */
interface Draft {
  key: number
  kind: NewRuleCondition['category'] | 'list'
  operand: NonNullable<NewRuleCondition['operand']>
  /** One word or pattern per line. */
  text: string
  list: string
  /** What the form doesn't edit. */
  kept: Pick<NewRuleCondition, 'operator' | 'onFailure' | 'similarityValue'>
}

/** A filter as the form edits it. */
interface FilterDraft {
  key: number
  side: 'sender user' | 'receiver user' | 'receiver group'
  operand: NewRuleFilter['operand']
  operator: NewRuleFilter['operator']
  value: string
}

const KINDS = {
  word: 'Words',
  pattern: 'Patterns (RE2)',
  list: 'A keyword list',
  'custom-api': 'Ask your own check',
  toxicity: 'Scores of a classifier',
  'sentence-similarity': 'Similar sentences',
  prompt: 'What a chat model recognizes',
}
const TEXT_OPERANDS = { text: 'Text or caption', custom: 'Custom and interactive data' }
const OPERANDS = { ...TEXT_OPERANDS, image: 'Images', video: 'Videos' }
/** Conditions that can look at images and videos. */
const SLOW: readonly string[] = ['custom-api', 'toxicity', 'prompt']
const VALUES: Partial<Record<Draft['kind'], string>> = {
  word: 'Words',
  pattern: 'Patterns',
  toxicity: 'Formulas, such as insult_greaterThan_80',
  'sentence-similarity': 'Sentences',
  prompt: 'Descriptions',
}
const SIDES = {
  'sender user': 'Sender',
  'receiver user': 'Receiving user',
  'receiver group': 'Receiving group',
}
const OPERATORS = {
  in: 'is one of',
  notIn: 'is none of',
  startsWith: 'starts with',
  endsWith: 'ends with',
  lessThan: 'is before',
  greaterThan: 'is after',
}
const OF_USER = {
  uid: 'UID',
  name: 'name',
  role: 'role',
  tags: 'tags',
  createdAt: 'creation (Unix seconds)',
}
const OF_GROUP = {
  guid: 'GUID',
  name: 'name',
  type: 'type',
  tags: 'tags',
  createdAt: 'creation (Unix seconds)',
}

type Action = ModerationRule['action'][number]

/** What a hit does besides blocking the message. */
const ACTIONS: Partial<Record<Action, string>> = {
  kickUser: 'Kick from the group',
  banUser: 'Ban from the group',
  blockUser: 'Let the receiver of a 1:1 message block the sender',
  deactivateUser: 'Deactivate',
}

let lastKey = 0
const newKey = () => ++lastKey

const draftOf = ({
  operand,
  category,
  isKeywordsReferencePresent: listed,
  value,
  operator,
  onFailure,
  similarityValue,
}: ModerationRule['conditions'][number]): Draft => ({
  ...{ key: newKey(), operand, kind: listed ? 'list' : category },
  kept: {
    operator,
    ...(onFailure && { onFailure }),
    ...(similarityValue !== undefined && { similarityValue }),
  },
  ...(listed ? { text: '', list: value[0] ?? '' } : { text: value.join('\n'), list: '' }),
})

const filterDraftOf = ({
  type,
  entity,
  operand,
  operator,
  value,
}: ModerationRule['filters'][number]): FilterDraft => ({
  ...{ key: newKey(), side: `${type} ${entity}` as FilterDraft['side'], operand },
  operator: operator === 'equals' ? 'in' : operator === 'notEquals' ? 'notIn' : operator,
  value: value.join(', '),
})

const toFilter = ({ side, operand, operator, value }: FilterDraft): NewRuleFilter => {
  const [type, entity] = side.split(' ') as [NewRuleFilter['type'], NewRuleFilter['entity']]
  return { type, entity, operand, operator, value: value.split(',').map((one) => one.trim()) }
}

/** Creates a rule, or edits the given one. */
export function RuleForm({ rule, onDone }: { rule?: ModerationRule; onDone: () => void }) {
  const appId = useAppId()
  const { moderationRules, keywordLists } = manage.app(appId)
  const queries = useQueryClient()
  const lists = useQuery({
    queryKey: appKey(appId, 'moderation', 'lists'),
    queryFn: () => keywordLists.list({ limit: 100 }),
  })
  const [id, setId] = useState('')
  const [name, setName] = useState(rule?.name ?? '')
  const [enabled, setEnabled] = useState(rule?.enabled ?? true)
  const [drafts, setDrafts] = useState<Draft[]>(() => rule?.conditions.map(draftOf) ?? [newDraft()])
  const [filters, setFilters] = useState<FilterDraft[]>(
    () => rule?.filters.map(filterDraftOf) ?? [],
  )
  const [actions, setActions] = useState<Action[]>(rule?.action ?? ['blockMessage'])
  const known = lists.data?.data ?? []
  const conditions = drafts.flatMap((draft) => toCondition(draft, known))
  const content = { name, enabled, conditions, filters: filters.map(toFilter), action: actions }
  const save = useMutation({
    mutationFn: () =>
      rule ? moderationRules.update(rule.id, content) : moderationRules.create({ id, ...content }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: appKey(appId, 'moderation') })
      onDone()
      toast(rule ? `Saved ${name}` : `Created ${name}`)
    },
  })
  const change = (key: number, to: Partial<Draft>) =>
    setDrafts((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)))
  const changeFilter = (key: number, to: Partial<FilterDraft>) =>
    setFilters((all) => all.map((one) => (one.key === key ? { ...one, ...to } : one)))
  const names = Object.fromEntries(
    known.map((list) => [list.id, `${list.name} (${NOUNS[list.category]}s)`]),
  )
  return (
    <Form
      mutation={save}
      submit={rule ? 'Save' : 'Create rule'}
      ready={conditions.length === drafts.length && conditions.length > 0}
    >
      {!rule && (
        <Field
          label="Rule ID"
          hint="A unique ID that you choose. You can't change it later."
          mono
          value={id}
          onChange={setId}
          autoFocus
        />
      )}
      <Field label="Name" value={name} onChange={setName} maxLength={100} />
      <Check label="Check messages by this rule" checked={enabled} onChange={setEnabled} />
      <h3>Block a message if any of these is found</h3>
      {drafts.map((draft, n) => (
        <fieldset key={draft.key} className="fields">
          <legend>Condition {n + 1}</legend>
          <Choice
            label="Look for"
            value={draft.kind}
            options={KINDS}
            onChange={(kind) =>
              change(draft.key, { kind, kept: {}, ...(!SLOW.includes(kind) && TEXT) })
            }
          />
          <Choice
            label="In"
            value={draft.operand}
            options={
              (SLOW.includes(draft.kind) ? OPERANDS : TEXT_OPERANDS) as Record<
                Draft['operand'],
                string
              >
            }
            onChange={(operand) => change(draft.key, { operand })}
          />
          {draft.kind === 'list' ? (
            <Choice
              label="List"
              value={draft.list}
              options={{ '': 'Choose a list', ...names }}
              onChange={(list) => change(draft.key, { list })}
            />
          ) : (
            draft.kind !== 'custom-api' && (
              <TextArea
                label={VALUES[draft.kind] ?? ''}
                hint="One per line."
                rows={3}
                mono
                value={draft.text}
                onChange={(text) => change(draft.key, { text })}
              />
            )
          )}
          {drafts.length > 1 && (
            <Button
              onPress={() => setDrafts((all) => all.filter(({ key }) => key !== draft.key))}
            >{`Remove condition ${n + 1}`}</Button>
          )}
        </fieldset>
      ))}
      <div>
        <Button icon="plus" onPress={() => setDrafts((all) => [...all, newDraft()])}>
          Add condition
        </Button>
      </div>
      <h3>Only for messages that match all of these</h3>
      {filters.map((filter, n) => (
        <fieldset key={filter.key} className="fields">
          <legend>Filter {n + 1}</legend>
          <Choice
            label="Who"
            value={filter.side}
            options={SIDES}
            onChange={(side) =>
              changeFilter(filter.key, { side, operand: side.endsWith('group') ? 'guid' : 'uid' })
            }
          />
          <Choice
            label="What"
            value={filter.operand}
            options={
              (filter.side.endsWith('group') ? OF_GROUP : OF_USER) as Record<
                FilterDraft['operand'],
                string
              >
            }
            onChange={(operand) => changeFilter(filter.key, { operand })}
          />
          <Choice
            label="Comparison"
            value={filter.operator}
            options={OPERATORS as Record<FilterDraft['operator'], string>}
            onChange={(operator) => changeFilter(filter.key, { operator })}
          />
          <Field
            label="Values"
            hint="Separated by commas."
            value={filter.value}
            onChange={(value) => changeFilter(filter.key, { value })}
          />
          <Button
            onPress={() => setFilters((all) => all.filter(({ key }) => key !== filter.key))}
          >{`Remove filter ${n + 1}`}</Button>
        </fieldset>
      ))}
      <div>
        <Button icon="plus" onPress={() => setFilters((all) => [...all, newFilter()])}>
          Add filter
        </Button>
      </div>
      <h3>And do this to the sender</h3>
      {(Object.entries(ACTIONS) as [Action, string][]).map(([action, label]) => (
        <Check
          key={action}
          label={label}
          checked={actions.includes(action)}
          onChange={(checked) =>
            setActions((all) =>
              checked ? [...all, action] : all.filter((other) => other !== action),
            )
          }
        />
      ))}
      <Tester conditions={conditions} />
      <Preview rule={{ ...(rule && { id: rule.id }), conditions, filters: content.filters }} />
    </Form>
  )
}

const TEXT = { operand: 'text' } as const
const newDraft = (): Draft => ({
  ...{ key: newKey(), kind: 'word', ...TEXT, text: '', list: '', kept: {} },
})
const newFilter = (): FilterDraft => ({
  ...{ key: newKey(), side: 'sender user', operand: 'uid', operator: 'notIn', value: '' },
})

/** None while it is incomplete. */
function toCondition(
  { kind, operand, text, list, kept }: Draft,
  lists: { id: string; category: 'word' | 'pattern' | 'sentence-similarity' }[],
): NewRuleCondition[] {
  if (kind === 'custom-api') return [{ ...kept, category: kind, operand }]
  if (kind !== 'list') {
    const value = text
      .split('\n')
      .map((line) => line.trim())
      .filter(Boolean)
    return value.length > 0 ? [{ ...kept, category: kind, operand, value }] : []
  }
  const category = lists.find(({ id }) => id === list)?.category
  const named = { isKeywordReferencePresent: true, value: [list] }
  return category ? [{ ...kept, category, operand, ...named }] : []
}

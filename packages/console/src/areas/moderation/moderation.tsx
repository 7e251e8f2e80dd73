/** Rules of moderation, keyword lists, reasons for flags, sanctions and figures. */
import { getRouteApi } from '@tanstack/react-router'
import { Page } from '../../shared/page.tsx'
import { Tabs } from '../../shared/tabs.tsx'
import { Figures } from './figures.tsx'
import { KeywordLists } from './lists.tsx'
import { Reasons } from './reasons.tsx'
import { Rules } from './rules.tsx'
import { Sanctions } from './sanctions.tsx'
import { Tester } from './tester.tsx'
import './moderation.css'

const route = getRouteApi('/apps/$appId/moderation')

export function Moderation() {
  const { tab = 'rules' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="Moderation"
      description="Rules check every message before it is sent. Only its sender sees a message that a rule blocks."
    >
      {['rules', 'lists'].includes(tab) && <Tester />}
      <Tabs
        label="Moderation"
        open={tab}
        onOpen={(id) => void navigate({ search: { tab: id }, replace: true })}
        tabs={[
          { id: 'rules', name: 'Rules', content: <Rules /> },
          { id: 'lists', name: 'Keyword lists', content: <KeywordLists /> },
          { id: 'reasons', name: 'Reasons', content: <Reasons /> },
          { id: 'sanctions', name: 'Sanctions', content: <Sanctions /> },
          { id: 'figures', name: 'Figures', content: <Figures /> },
        ]}
      />
    </Page>
  )
}

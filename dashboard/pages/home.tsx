// The front page.
import { PageHead } from '../components/page-head.tsx';
import { Search } from '../components/search.tsx';
import '../styles/home.css';

export function Home() {
  return (
    <div class="wrap">
      <PageHead
        title="Every number, and every number it used to be"
        windowTitle="Statistics with their whole history"
      />
      <Search large placeholder="Search series and funds" />
    </div>
  );
}

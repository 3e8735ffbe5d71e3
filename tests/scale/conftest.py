import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # bench is not installed with the package
    sys.path.insert(0, str(ROOT))

"""python -m memoranda"""

from memoranda.cli.app import main

if __name__ == "__main__":
    main()
